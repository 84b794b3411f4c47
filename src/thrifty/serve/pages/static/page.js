"use strict";

// Pieces of a page are looked at again by htmx, when this says so.
(() => {
  const EVERY = 5000; // milliseconds between two looks, unless the server says otherwise

  // Times, in the zone of who looks; the title of each has UTC.
  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

  function localise() {
    const today = new Date().toDateString();
    for (const time of document.querySelectorAll("time[datetime]:not([data-local])")) {
      const at = new Date(time.dateTime);
      time.textContent = (at.toDateString() === today ? clock : full).format(at);
      time.dataset.local = "";
    }
  }

  // Whether the server is there.
  const lost = document.getElementById("lost");
  const live = document.getElementById("live");
  let answered = new Date();

  function lose() {
    if (!lost.hidden) return;
    const since = document.createElement("time");
    since.textContent = clock.format(answered);
    since.title = answered.toUTCString().replace("GMT", "UTC");
    lost.replaceChildren("The server has not answered since ", since, ". What is shown is from then; this page keeps trying.");
    lost.hidden = false;
    if (live) {
      live.textContent = "Lost";
      live.classList.add("lost");
    }
  }

  function find() {
    answered = new Date();
    if (lost.hidden) return;
    lost.hidden = true;
    if (live) {
      live.textContent = "Live";
      live.classList.remove("lost");
    }
    document.dispatchEvent(new Event("found"));
  }

  // Pieces that are looked at again, by their ids: what was seen of each, and when it is its turn.
  const seen = {};
  const turn = {};

  function look(now) {
    for (const piece of document.querySelectorAll("[data-live]")) {
      turn[piece.id] ??= performance.now() + EVERY;
      if (!now && performance.now() < turn[piece.id]) continue;
      turn[piece.id] = performance.now() + EVERY;
      htmx.trigger(piece, "refresh");
    }
  }

  document.addEventListener("htmx:configRequest", (event) => {
    if (event.detail.elt.dataset.live !== undefined && seen[event.detail.elt.id])
      event.detail.parameters.set("seen", seen[event.detail.elt.id]);
  });
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { xhr, target } = event.detail;
    if (target.dataset.live === undefined) return;
    if (xhr.getResponseHeader("x-seen")) seen[target.id] = xhr.getResponseHeader("x-seen");
    const wait = Number(xhr.getResponseHeader("x-wait"));
    if (wait) turn[target.id] = performance.now() + 1000 * wait;
  });
  document.addEventListener("htmx:afterSwap", localise);
  document.addEventListener("htmx:oobAfterSwap", localise);
  document.addEventListener("htmx:afterRequest", (event) => {
    const status = event.detail.xhr.status;
    if (status === 0 || status >= 500) lose();
    else find();
    if (status >= 400 && status < 500) say(`The server says no: ${status}.`);
  });

  // Forms in a dialog: what is to be changed is confirmed there.
  const dialog = document.getElementById("dialog");
  const said = document.getElementById("said");
  let opener = null;
  let silence = 0;

  function say(text) {
    said.textContent = text;
    clearTimeout(silence);
    silence = setTimeout(() => (said.textContent = ""), 6000);
  }

  document.addEventListener("htmx:afterSwap", (event) => {
    if (event.detail.target !== dialog || !dialog.showModal || dialog.open) return;
    opener = document.activeElement?.id;
    dialog.showModal();
  });
  document.addEventListener("done", (event) => {
    say(event.detail.value);
    if (dialog?.open) dialog.close();
    else location.assign(document.querySelector("[data-close]").href);
    look(true);
  });
  document.addEventListener("click", (event) => {
    if (dialog?.open && event.target.closest("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
  dialog?.addEventListener("close", () => {
    dialog.replaceChildren();
    if (opener) document.getElementById(opener)?.focus();
  });

  localise();
  if (live) {
    live.hidden = false;
    setInterval(() => document.hidden || look(false), 1000);
    document.addEventListener("visibilitychange", () => document.hidden || look(true));
  }
})();
