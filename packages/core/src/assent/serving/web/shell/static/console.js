/* The one script of ours: live updates with a pause, the count in the title, notifications, keys, copying, live
   limits. Everything here makes something quicker that also works without it. */
"use strict";

(() => {
  const $ = (selector, from = document) => from.querySelector(selector);
  const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];
  const kept = {
    get: (name) => { try { return localStorage.getItem(`assent-${name}`); } catch { return null; } },
    set: (name, value) => { try { localStorage.setItem(`assent-${name}`, value); } catch { /* private window */ } },
  };

  /* Live. A stream is open while a person can see the page, or wants to be notified, and has not paused it. It comes
     back with the last position it heard of, so that nothing in between is missed. */

  let paused = false;
  let guarding = false;
  const streams = new Set();

  class LiveStream extends EventTarget {
    constructor(url) {
      super();
      this.base = url.split("?")[0];
      this.after = new URLSearchParams(url.split("?")[1]).get("after") || "";
      this.closed = false;
      this.source = null;
      streams.add(this);
      this.adjust();
    }

    get readyState() { return this.closed ? 2 : this.source ? this.source.readyState : 0; }

    adjust() {
      const wanted = !this.closed && !paused && (!document.hidden || guarding);
      if (wanted && !this.source) this.open();
      if (!wanted && this.source) { this.source.close(); this.source = null; say(); }
    }

    open() {
      const source = new EventSource(`${this.base}?after=${encodeURIComponent(this.after)}`);
      this.source = source;
      source.onopen = (event) => { say(); if (this.onopen) this.onopen(event); };
      source.onerror = () => {
        say();
        if (source.readyState !== 2 || this.source !== source) return;
        this.source = null;
        setTimeout(() => this.adjust(), 5000);
      };
      source.addEventListener("changed", (event) => {
        this.after = event.lastEventId || this.after;
        hear(event.data);
        this.dispatchEvent(new MessageEvent("changed", { data: event.data, lastEventId: event.lastEventId }));
      });
    }

    close() {
      this.closed = true;
      streams.delete(this);
      this.adjust();
    }
  }

  if (window.htmx) window.htmx.createEventSource = (url) => new LiveStream(url);

  const adjustAll = () => streams.forEach((stream) => stream.adjust());

  document.addEventListener("visibilitychange", adjustAll);

  function say() {
    const said = $("#live-said");
    if (!said) return;
    const lost = [...streams].some((stream) => stream.source && stream.source.readyState !== 1);
    const text = paused ? "Paused. This page does not change until you resume." : lost ? "Connection lost; trying again." : "";
    if (said.textContent !== text) said.textContent = text;
    document.body.dataset.live = paused ? "paused" : lost ? "lost" : "on";
  }

  function pauseButtons() {
    const buttons = $$("[data-pause]");
    buttons.forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => {
        paused = !paused;
        buttons.forEach((each) => {
          each.setAttribute("aria-pressed", String(paused));
          $("span", each).textContent = paused ? "Resume live updates" : "Pause live updates";
        });
        adjustAll();
        say();
      });
    });
  }

  /* The count: in the title, at the inbox, and as a notification where a person asked for it. */

  let waiting = Number($("#waiting-count .number")?.textContent || 0);

  /* On the icon of the installed app. */
  const badge = (now) => navigator.setAppBadge?.(now).catch(() => { /* not installed */ });

  function hear(data) {
    const now = Number(JSON.parse(data).waiting);
    $$("[data-waiting]").forEach((count) => {
      count.hidden = now === 0;
      $(".number", count).textContent = now;
    });
    badge(now);
    document.title = document.title.replace(/^\(\d+\) /, "");
    if (now) document.title = `(${now}) ${document.title}`;
    if (now > waiting && document.hidden && wantsNotifications()) {
      const text = now === 1 ? "One thing waits for your decision." : `${now} things wait for your decision.`;
      const shown = new Notification("Assent needs you", { body: text, tag: "assent" });
      shown.onclick = () => { window.focus(); location.href = "/inbox"; };
    }
    waiting = now;
  }

  function wantsNotifications() {
    return kept.get("notify") === "on" && "Notification" in window && Notification.permission === "granted";
  }

  function guard() {
    if (!wantsNotifications()) return;
    const hold = () => new Promise(() => { guarding = true; adjustAll(); });
    if (navigator.locks) navigator.locks.request("assent-notify", hold);
    else hold();
  }

  function notifyButton() {
    const button = $("#notify");
    if (!button || !("Notification" in window)) return;
    const label = () => { button.textContent = wantsNotifications() ? "Turn off in this browser" : "Turn on in this browser"; };
    button.hidden = false;
    label();
    button.addEventListener("click", async () => {
      if (wantsNotifications()) kept.set("notify", "off");
      else if ((await Notification.requestPermission()) === "granted") { kept.set("notify", "on"); guard(); }
      label();
    });
  }

  /* A live part that is fetched again keeps what a person ticked, opened or focused. */

  let before = null;

  document.addEventListener("htmx:beforeSwap", (event) => {
    const live = event.detail.target;
    if (live.id !== "live") return;
    before = {
      ticked: $$("input[type=checkbox]:checked[id]", live).map((each) => each.id),
      open: $$("details[open][id]", live).map((each) => each.id),
      row: $("[data-row][aria-current]", live)?.id,
      chip: $$("#chips a").indexOf(document.activeElement),
    };
  });

  document.addEventListener("htmx:afterSwap", () => {
    if (!before) return;
    before.ticked.forEach((id) => { const box = document.getElementById(id); if (box) box.checked = true; });
    before.open.forEach((id) => { const each = document.getElementById(id); if (each) each.open = true; });
    if (before.row) document.getElementById(before.row)?.setAttribute("aria-current", "true");
    $$("#chips a")[before.chip]?.focus();
    before = null;
    enhance($("#live"));
    chosen();
    mark();
  });

  /* Keys. A key acts on the row that one stands on, or on what the page marks with it. */

  const rows = () => $$("[data-row]").filter((row) => row.offsetParent !== null);
  const current = () => $("[data-row][aria-current]");

  function stand(row) {
    $$("[data-row][aria-current]").forEach((each) => each.removeAttribute("aria-current"));
    row.setAttribute("aria-current", "true");
    preview(row);
    const link = $("[data-key=Enter]", row) || $("a", row);
    if (link) link.focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  }

  /* The pane beside the inbox shows the item that one stands on. It is there from 1,100 px; elsewhere a row leads to
     its page. */

  const paned = () => { const pane = $("#pane"); return pane && pane.offsetParent !== null ? pane : null; };
  let shown = "";
  let asked = null; // the item whose approval a key asked for before its pane was there

  function mark() {
    const pane = paned();
    if (pane && !shown && pane.childElementCount) shown = $("[data-pane]")?.dataset.pane || "";
    $$("[data-pane]").forEach((row) => row.toggleAttribute("data-shown", Boolean(pane) && row.dataset.pane === shown));
  }

  async function preview(row) {
    const pane = paned();
    const from = row.dataset.pane;
    if (!pane || !from || from === shown) return;
    shown = from;
    mark();
    const answer = await fetch(from);
    if (!answer.ok || from !== shown) return;
    pane.innerHTML = await answer.text();
    document.dispatchEvent(new CustomEvent("assent:pane", { detail: "" }));
  }

  /* The pane has another item: by a key, or after a decision, which leads on to its heading. */
  document.addEventListener("assent:pane", (event) => {
    const pane = $("#pane");
    pane.scrollTop = 0;
    enhance(pane);
    if (asked === shown) $("form[data-decision=approve] button", pane)?.focus();
    if (!event.detail) return;
    shown = `/inbox/pane/${event.detail}`;
    mark();
    $("[data-pane-item]", pane)?.focus({ preventScroll: true });
  });

  document.addEventListener("click", (event) => {
    const row = event.target.closest("[data-pane]");
    const link = event.target.closest("a");
    if (!row || !paned() || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (!link || link.dataset.key !== "Enter" || row.dataset.pane === shown) return;
    event.preventDefault();
    stand(row);
  });

  function move(by) {
    const all = rows();
    if (!all.length) return;
    const at = all.indexOf(current());
    stand(all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))]);
  }

  const typing = (target) => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)
    && !/^(checkbox|radio|button|submit)$/.test(target.type);

  function press(event) {
    if (document.body.dataset.keys === "off" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target) || $("dialog[open]")) return;
    const key = event.shiftKey && event.key.length === 1 && event.key !== "?" ? `Shift+${event.key.toUpperCase()}` : event.key;
    const row = current();
    if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
    else if (key === "?") $("#keys-help")?.showModal();
    else if (key === "/") $("input[type=search]")?.focus();
    else if (key === "x") { const box = row && $("input[type=checkbox]", row); if (!box) return; box.click(); }
    else if (key === "a" && paned() && $("form[data-decision=approve] button", paned())) { asked = shown; $("form[data-decision=approve] button", paned()).focus(); }
    else if (key === "Enter") { if (event.target.closest("a,button,summary,input")) return; const link = row && $("[data-key=Enter]", row); if (!link) return; link.click(); }
    else {
      const named = `[data-key="${CSS.escape(key)}"]`;
      const found = (row && $(named, row)) || $$(named).find((each) => !each.closest("[data-row]"));
      if (!found) return;
      found.click();
    }
    event.preventDefault();
  }

  document.addEventListener("keydown", press);

  /* Searching everything: in a dialog, where the arrows walk through what was found and Enter opens it. Before the
     answer is there, Enter leads to the page of the search. */

  function openSearch() {
    const box = $("#search");
    const field = $("#search-q");
    if (box && !$("dialog[open]")) { box.showModal(); field.dispatchEvent(new Event("opened")); }
    if (field) field.select();
  }

  function walk(event) {
    const box = event.target.closest?.("#search");
    if (!box) return;
    const all = $$("#search-q, #search-found a", box);
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by) all[Math.max(0, Math.min(all.length - 1, all.indexOf(event.target) + by))]?.focus();
    else if (event.key === "Enter" && all[1] && $("#found", box).dataset.asked === event.target.value?.trim()) all[1].click();
    else return;
    event.preventDefault();
  }

  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k" && $("#search-q")) {
      event.preventDefault();
      openSearch();
    } else walk(event);
  });

  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-search]") || !$("#search") || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openSearch();
  });

  /* What is selected together. */

  function chosen() {
    const bar = $("#batch");
    if (!bar) return;
    const boxes = $$("input[data-pick]:checked");
    bar.toggleAttribute("data-empty", boxes.length === 0);
    $("#batch-said").textContent = `${boxes.length} selected`;
  }

  function selectAll(button) {
    const boxes = $$("input[data-pick]", button.closest(".group"));
    const all = boxes.every((box) => box.checked);
    boxes.forEach((box) => { box.checked = !all; });
    chosen();
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches("input[data-pick]")) chosen();
    if (event.target.matches("[data-submits]")) event.target.form.submit();
  });

  /* Copying, and how much of a limit is used. */

  async function copy(button) {
    const pre = $("pre, code", button.parentElement);
    const text = pre.textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(pre);
      document.execCommand("copy");
    }
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1600);
  }

  /* X counts a link as 23 and most characters beyond the first blocks as two; other channels count what is there. */
  const COUNTS = {
    plain: (text) => [...text].length,
    x: (text) => {
      const links = text.match(/https?:\/\/\S+/g) || [];
      const rest = text.replace(/https?:\/\/\S+/g, "");
      const wide = (c) => !(c <= 0x10ff || (c >= 0x2000 && c <= 0x200d) || (c >= 0x2010 && c <= 0x201f) || (c >= 0x2032 && c <= 0x2037));
      return links.length * 23 + [...rest].reduce((sum, each) => sum + (wide(each.codePointAt(0)) ? 2 : 1), 0);
    },
  };

  function count(field) {
    const said = document.getElementById(`${field.id}-count`);
    const used = COUNTS[field.dataset.counts](field.value);
    const most = Number(field.dataset.limit);
    const more = used > most && field.dataset.splits ? `, in ${Math.ceil(used / (most - 6))} or more posts` : "";
    said.textContent = `${used.toLocaleString("en")} of ${most.toLocaleString("en")} ${field.dataset.unit}${more}`;
    said.classList.toggle("wrong", used > most && !field.dataset.splits);
  }

  /* The preview beside a form follows the text; a thread or a page becomes one text until it is saved. */
  function follow(box) {
    const field = document.getElementById(box.dataset.liveFrom);
    if (!field) return;
    field.addEventListener("input", () => {
      const texts = $$(".text", box);
      const target = texts[0] || $(".as-page", box);
      if (!target) return;
      $$("li.as-post", box).slice(1).forEach((each) => each.remove());
      target.classList.add("text");
      target.textContent = field.value;
    });
  }

  function enhance(part) {
    $$("[data-live-from]", part).forEach(follow);
    $$("[data-select]", part).forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => selectAll(button));
    });
    $$("[data-copy]", part).forEach((button) => {
      button.hidden = false;
      button.addEventListener("click", () => copy(button));
    });
    $$("[data-limit]", part).forEach((field) => {
      if (!COUNTS[field.dataset.counts]) return; // the server counts by a rule of its own
      field.addEventListener("input", () => count(field));
      count(field);
    });
    $$(".subnav, .tabs, .chips", part).forEach((strip) => {
      const chosen = $("[aria-current]", strip);
      if (chosen) strip.scrollLeft = chosen.offsetLeft - strip.offsetLeft - (strip.clientWidth - chosen.clientWidth) / 2;
    });
    $$("[data-scrolls]", part).forEach((box) => {
      const row = $("li[aria-current]", box);
      if (row) box.scrollTop = row.offsetTop - (box.clientHeight - row.clientHeight) / 2;
    });
    $$("time[datetime]", part).forEach((each) => {
      const at = new Date(each.dateTime);
      if (!Number.isNaN(at.valueOf())) each.title = at.toLocaleString();
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    pauseButtons();
    notifyButton();
    badge(waiting);
    guard();
    enhance(document);
    chosen();
    mark();
    $$("[data-help]").forEach((each) => each.addEventListener("click", () => $("#keys-help").showModal()));
  });
})();
