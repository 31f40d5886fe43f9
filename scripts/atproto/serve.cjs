// The reference server of the AT Protocol with one account: prints its address, handle and app password as one line of
// JSON, and stays until its input ends.
const { TestNetworkNoAppView } = require('@atproto/dev-env')

async function main() {
  const network = await TestNetworkNoAppView.create({})
  const call = async (name, body, token) => {
    const headers = { 'content-type': 'application/json' }
    if (token) headers.authorization = `Bearer ${token}`
    const answer = await fetch(`${network.pds.url}/xrpc/${name}`, {
      method: 'POST', headers, body: JSON.stringify(body),
    })
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const account = await call('com.atproto.server.createAccount', {
    email: 'alice@example.org', handle: 'alice.test', password: 'the-real-password',
  })
  const app = await call('com.atproto.server.createAppPassword', { name: 'assent' }, account.accessJwt)
  console.log(JSON.stringify({
    url: network.pds.url, did: account.did, handle: account.handle, password: app.password,
  }))
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
}

main().catch((error) => {
  console.error(error)
  process.exit(1)
})
