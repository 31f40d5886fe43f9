// One conversation with a server through a TypeScript client, told as JSON on standard output.
//
// The packages live in a directory of their own, so they are resolved from there. Both SDK generations also
// check every structured result against the tool's outputSchema: a reply that breaks it fails here.

import { createRequire } from 'node:module';

const order = JSON.parse(process.argv[2]);
const require = createRequire(order.packagesFrom);

const generations = {
  sdk: () => ({
    ...require('@modelcontextprotocol/sdk/client/index.js'),
    ...require('@modelcontextprotocol/sdk/client/streamableHttp.js'),
    ...require('@modelcontextprotocol/sdk/client/stdio.js'),
    options: {},
    protocolOf: (_client, transport) => transport.protocolVersion ?? null,
  }),
  client: () => ({
    ...require('@modelcontextprotocol/client'),
    ...require('@modelcontextprotocol/client/stdio'),
    options: { versionNegotiation: { mode: order.mode } },
    protocolOf: (client) => client.getNegotiatedProtocolVersion() ?? null,
  }),
};

const { Client, StreamableHTTPClientTransport, StdioClientTransport, options, protocolOf } =
  generations[order.package]();

const { url, headers, command, args, env } = order.reach;
const transport = url
  ? new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  : new StdioClientTransport({ command, args, env, stderr: 'inherit' });

const payload = async (name) => {
  const result = await client.callTool({ name, arguments: {} });
  if (result.isError) throw new Error(`${name}: ${JSON.stringify(result)}`);
  return result.structuredContent;
};

const client = new Client({ name: 'assent-interop', version: '1' }, options);
await client.connect(transport);
try {
  const { tools } = await client.listTools();
  const seen = {
    protocol: protocolOf(client, transport),
    tools: tools.map((tool) => tool.name),
    connectors: await payload(order.publicTool),
    workspace: order.keyedTool ? await payload(order.keyedTool) : null,
  };
  process.stdout.write(JSON.stringify(seen));
} finally {
  await client.close();
}
