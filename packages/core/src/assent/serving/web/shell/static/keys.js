/* The script of the pages on which a browser makes or uses a key: signing in, confirming, passkeys. The key cannot be
   exported and is kept for this origin, port included. It signs what the form says, where, in which session, once. */
"use strict";

(() => {
  const $ = (selector) => document.querySelector(selector);
  const encode = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const decode = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const utf8 = (text) => new TextEncoder().encode(text);
  const say = (id) => { const found = document.getElementById(id); if (found) found.hidden = false; };
  const fill = (form, name, value) => {
    let field = [...form.querySelectorAll("input[type=hidden]")].find((each) => each.name === name);
    if (!field) {
      field = document.createElement("input");
      field.type = "hidden";
      field.name = name;
      form.append(field);
    }
    field.value = value;
  };
  // A field may be named "submit" or "action", so the form's own properties are not to be trusted.
  const send = (form) => HTMLFormElement.prototype.submit.call(form);

  /* The keys of this browser, by their public parts. */

  const keys = (mode, act) => new Promise((resolve, reject) => {
    const opening = indexedDB.open("assent-keys", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const change = opening.result.transaction("keys", mode);
      const asked = act(change.objectStore("keys"));
      change.oncomplete = () => { opening.result.close(); resolve(asked.result); };
      change.onabort = () => { opening.result.close(); reject(change.error); };
    };
  });

  const makeKey = async () => {
    const made = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
    const shown = encode(await crypto.subtle.exportKey("raw", made.publicKey));
    await keys("readwrite", (store) => store.put(made.privateKey, shown));
    return shown;
  };

  const findKey = (shown) => keys("readonly", (store) => store.get(shown)).catch(() => undefined);

  /* Canonical JSON (RFC 8785) of a map of texts and maps: names in order of their code units. */

  const write = (map) => `{${[...map.keys()].sort().map((name) => {
    const value = map.get(name);
    return `${JSON.stringify(name)}:${value instanceof Map ? write(value) : JSON.stringify(value)}`;
  }).join(",")}}`;

  const state = (form) => {
    const fields = new Map();
    let nonce = "";
    for (const [name, value] of new FormData(form)) {
      if (name === "confirm") nonce = value;
      else if (name !== "proof") fields.set(name, value.replace(/\r\n?/g, "\n"));
    }
    const at = new URL(form.getAttribute("action"), location.href);
    return utf8(write(new Map([
      ["version", "assent confirm 1"],
      ["origin", location.origin],
      ["path", at.pathname + at.search],
      ["session", form.dataset.session],
      ["fields", fields],
      ["nonce", nonce],
    ])));
  };

  const usePasskey = async (form) => {
    const known = (form.dataset.passkeys || "").split(" ").filter(Boolean);
    const used = await navigator.credentials.get({ publicKey: {
      challenge: await crypto.subtle.digest("SHA-256", state(form)),
      rpId: form.dataset.party,
      allowCredentials: known.map((id) => ({ type: "public-key", id: decode(id) })),
      userVerification: "required",
    } });
    const { clientDataJSON, authenticatorData, signature, userHandle } = used.response;
    return `passkey:${JSON.stringify({
      id: used.id, rawId: encode(used.rawId), type: used.type, response: {
        clientDataJSON: encode(clientDataJSON),
        authenticatorData: encode(authenticatorData),
        signature: encode(signature),
        userHandle: userHandle ? encode(userHandle) : null,
      },
    })}`;
  };

  /* Signing in by a link: without a key the form is sent as it is. */

  const linked = $("form[data-makes-key]");
  if (linked) {
    linked.addEventListener("submit", async (event) => {
      event.preventDefault();
      fill(linked, "zone", Intl.DateTimeFormat().resolvedOptions().timeZone || "");
      try { fill(linked, "key", await makeKey()); } catch { /* an address that is not secure, a private window */ }
      send(linked);
    });
  }

  /* Signing in with a passkey, which signs the new key too. */

  const entering = $("form[data-signs-in]");
  if (entering && window.PublicKeyCredential && location.origin === entering.dataset.origin) {
    say("by-passkey");
    entering.addEventListener("submit", async (event) => {
      event.preventDefault();
      try {
        fill(entering, "key", await makeKey());
        fill(entering, "proof", await usePasskey(entering));
      } catch { say("passkey-failed"); return; }
      send(entering);
    });
  }

  /* Making a passkey. */

  const making = $("form[data-makes-passkey]");
  if (making && window.PublicKeyCredential && location.origin === making.dataset.origin) {
    say("make-passkey");
    making.addEventListener("submit", async (event) => {
      event.preventDefault();
      const nonce = new FormData(making).get("nonce");
      try {
        const made = await navigator.credentials.create({ publicKey: {
          challenge: await crypto.subtle.digest("SHA-256", utf8(nonce)),
          rp: { id: making.dataset.party, name: "Assent" },
          user: { id: utf8(making.dataset.person), name: making.dataset.name, displayName: making.dataset.name },
          pubKeyCredParams: [{ type: "public-key", alg: -7 }, { type: "public-key", alg: -257 }],
          excludeCredentials: making.dataset.passkeys.split(" ").filter(Boolean)
            .map((id) => ({ type: "public-key", id: decode(id) })),
          authenticatorSelection: { residentKey: "required", userVerification: "required" },
        } });
        fill(making, "credential", JSON.stringify({
          id: made.id, rawId: encode(made.rawId), type: made.type, response: {
            clientDataJSON: encode(made.response.clientDataJSON),
            attestationObject: encode(made.response.attestationObject),
          },
        }));
      } catch { say("passkey-failed"); return; }
      send(making);
    });
  }

  /* For a page that decides in place: what signs a confirm form, if this browser has its key for this address. */

  window.assentSigner = async (form) => {
    const key = location.origin === form.dataset.origin && form.dataset.key ? await findKey(form.dataset.key) : undefined;
    const how = { name: "ECDSA", hash: "SHA-256" };
    return key ? async () => `key:${encode(await crypto.subtle.sign(how, key, state(form)))}` : undefined;
  };

  /* Confirming. */

  const confirming = $("form[data-confirms]");
  if (confirming && location.origin !== confirming.dataset.origin) {
    say("elsewhere");
  } else if (confirming) {
    const press = (id, make) => {
      const button = document.getElementById(id);
      if (!button) return;
      button.disabled = false;
      button.addEventListener("click", async () => {
        button.disabled = true;
        try {
          fill(confirming, "proof", await make());
          send(confirming);
        } catch { button.disabled = false; say("confirm-failed"); }
      });
    };
    if (window.PublicKeyCredential) press("confirm-passkey", () => usePasskey(confirming));
    const shown = confirming.dataset.key;
    (shown ? findKey(shown) : Promise.resolve()).then((key) => {
      if (!key) {
        say("no-key");
        document.getElementById("confirm-key")?.remove();
        return;
      }
      press("confirm-key", async () => {
        const how = { name: "ECDSA", hash: "SHA-256" };
        return `key:${encode(await crypto.subtle.sign(how, key, state(confirming)))}`;
      });
    });
  }
})();
