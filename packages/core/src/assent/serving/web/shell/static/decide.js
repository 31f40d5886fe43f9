/* What a person decides is done where they look. A form with `data-signs` is sent in the background. Where the server
   answers with a confirm page, its form is signed with the key of this browser: at once, or after a second press in a
   dialog where the form says `data-signs="ask"`. Whatever else happens, the form is sent as without a script. */
"use strict";

(() => {
  const PAUSE_MS = 700;
  let newest = -PAUSE_MS;
  const parse = (text) => new DOMParser().parseFromString(text, "text/html");

  /* A press that was meant for what stood there before decides nothing, nor does a key that is held down. */
  const isEarly = () => performance.now() - newest < PAUSE_MS;
  const begin = () => { newest = performance.now(); };

  const post = async (action, fields) => {
    const answer = await fetch(action, { method: "POST", body: new URLSearchParams(fields) });
    return { answer, page: parse(await answer.text()) };
  };

  const sendAsForm = (form, button) => {
    form.dataset.signs = "sent";
    form.requestSubmit(button);
  };

  const ask = (form, asked) => new Promise((resolve) => {
    const dialog = document.createElement("dialog");
    dialog.className = "confirm";
    dialog.setAttribute("aria-labelledby", "confirm-title");
    const title = document.createElement("h2");
    title.id = "confirm-title";
    title.textContent = asked.page.querySelector("h1").textContent;
    const actions = document.createElement("div");
    actions.className = "actions";
    const yes = document.createElement("button");
    const shown = asked.page.querySelector("#confirm-key");
    yes.className = shown.className;
    yes.textContent = shown.textContent;
    const no = document.createElement("button");
    no.className = "button";
    no.textContent = "Go back";
    actions.append(yes, no);
    const parts = [...asked.page.querySelectorAll("main > .callout.danger[role=alert]:not([hidden]), main > .lead, form[data-confirms] > .facts")];
    dialog.append(title, ...parts.map((each) => document.adoptNode(each)), actions);
    document.body.append(dialog);
    const end = (said) => { dialog.remove(); resolve(said); };
    yes.addEventListener("click", () => end(true));
    no.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => end(false));
    dialog.showModal();
    yes.focus();
  });

  const decide = async (form, button) => {
    const action = form.getAttribute("action");
    let asked = await post(action, new FormData(form, button));
    const confirming = asked.page.querySelector("form[data-confirms]");
    if (confirming) {
      const sign = await window.assentSigner(confirming);
      if (!sign) return sendAsForm(form, button);
      if (form.dataset.signs === "ask" && !(await ask(form, asked))) { delete form.dataset.busy; return undefined; }
      const fields = new FormData(confirming);
      fields.set("proof", await sign());
      asked = await post(action, fields);
    }
    if (!asked.answer.redirected) return sendAsForm(form, button);
    return leadOn(asked);
  };

  const leadOn = ({ answer, page }) => {
    const pane = document.getElementById("pane");
    const next = page.querySelector("[data-pane-item]");
    const to = new URL(answer.url);
    if (!pane || !next || !to.pathname.startsWith("/inbox/pane/")) {
      // The address of an answer has no fragment.
      const about = to.searchParams.get("next") || to.searchParams.get("action");
      if (about && to.pathname.startsWith("/runs/")) to.hash = `action-${about}`;
      if (to.pathname + to.search === location.pathname + location.search) location.reload();
      else location.assign(to);
      return;
    }
    pane.replaceChildren(...page.body.childNodes);
    document.dispatchEvent(new CustomEvent("assent:pane", { detail: next.dataset.paneItem }));
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!form.matches("form[data-signs]") || form.dataset.signs === "sent" || !window.assentSigner) return;
    event.preventDefault();
    if (form.dataset.busy || (form.closest("[data-decides]") && isEarly())) return;
    form.dataset.busy = "1";
    decide(form, event.submitter).catch(() => sendAsForm(form, event.submitter));
  });

  document.addEventListener("keydown", (event) => {
    const decides = event.target.closest?.("[data-decides]");
    if (decides && event.repeat && (event.key === "Enter" || event.key === " ")) event.preventDefault();
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.repeat || isEarly()) return;
    const form = document.querySelector("dialog[open]") ? null
      : (event.target.closest?.(".action") || document).querySelector("form[data-signs][data-decision=approve]");
    const button = form && form.querySelector("button.primary");
    if (button && form.reportValidity()) { event.preventDefault(); form.requestSubmit(button); }
  });

  document.addEventListener("assent:pane", begin);
})();
