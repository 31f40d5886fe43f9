/* The worker that shows notifications on this device. It handles no requests of pages: it has no fetch handler, and its
   scope is /static/. A click opens a page of this server, which asks for a sign-in before anyone can decide. */

"use strict";

self.addEventListener("push", (event) => {
  const note = event.data ? event.data.json() : { title: "Assent needs you", text: "", path: "/inbox", tag: "assent" };
  event.waitUntil(
    self.registration.showNotification(note.title, {
      body: note.text,
      tag: note.tag,
      renotify: !note.quiet,
      silent: note.quiet === true,
      data: { path: note.path },
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const path = String(event.notification.data?.path || "");
  const page = new URL(path.startsWith("/") ? path : "/inbox", self.location.origin);
  if (page.origin === self.location.origin) event.waitUntil(self.clients.openWindow(page.href));
});
