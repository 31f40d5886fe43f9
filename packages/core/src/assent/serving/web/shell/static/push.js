/* Subscribes this browser to notifications, from the settings page. The form sends the subscription like an address. */

"use strict";

(() => {
  const form = document.getElementById("push");
  if (!form) return;
  const button = form.querySelector("button");
  const said = document.getElementById("push-said");

  const supported = window.isSecureContext && "serviceWorker" in navigator && "PushManager" in window;
  if (!supported) {
    said.textContent = window.isSecureContext
      ? "This browser cannot show notifications."
      : "Browsers allow this over https or on localhost only.";
    return;
  }
  button.hidden = false;

  const bytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (each) => each.charCodeAt(0));

  /* A new release has a new worker, which replaces the one of this browser. */
  navigator.serviceWorker.getRegistration(form.dataset.worker).then((known) => {
    if (known) navigator.serviceWorker.register(form.dataset.worker);
  });

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      if ((await Notification.requestPermission()) !== "granted") {
        throw new Error("allow notifications for this address in your browser, then try again.");
      }
      const registration = await navigator.serviceWorker.register(form.dataset.worker);
      const old = await registration.pushManager.getSubscription();
      if (old) await old.unsubscribe();
      const made = await registration.pushManager.subscribe({
        userVisibleOnly: true,
        applicationServerKey: bytes(form.dataset.key),
      });
      form.elements.address.value = JSON.stringify(made);
      form.submit();
    } catch (error) {
      said.textContent = `It did not work: ${error.message}`;
      button.disabled = false;
    }
  });
})();
