// The panel of a session: parts are exchanged when the stream says that something happened.

import { link, refresh, show } from "./parts.js";

const WATCH_MS = 37_500; // two and a half of the server's beats
const IDLE_MS = 1_000; // how often the drawing follows pieces that are seen to move, between rulings

// ---- the stream ------------------------------------------------------------------------------------------------------

let stream;
let watch;
let lastId = "";
let status = "";
let drawnAt = 0;

function listen() {
  stream?.close();
  const url = new URL(document.body.dataset.stream, location.href);
  if (lastId) url.searchParams.set("after", lastId);
  stream = new EventSource(url);
  stream.addEventListener("hello", (event) => {
    if (JSON.parse(event.data).instance !== document.body.dataset.instance) location.reload();
    heard();
    refresh();
  });
  stream.addEventListener("record", (event) => {
    lastId = event.lastEventId;
    heard();
    refresh();
  });
  stream.addEventListener("live", (event) => {
    const now = JSON.parse(event.data);
    heard();
    show(now.frame_seq);
    const words = now.status + now.said + now.moved + now.trouble + now.pointed.question + now.pointed.label;
    if (words !== status || performance.now() - drawnAt > IDLE_MS) {
      status = words;
      drawnAt = performance.now();
      refresh();
    }
  });
  stream.addEventListener("beat", heard);
  stream.addEventListener("error", () => {
    link.hidden = false;
    // A refusal (all connections taken) ends an EventSource for good; ask again later.
    if (stream.readyState === EventSource.CLOSED) later(5_000);
  });
  later(WATCH_MS);
}

function heard() {
  link.hidden = true;
  later(WATCH_MS);
}

function later(ms) {
  clearTimeout(watch);
  watch = setTimeout(() => {
    refresh();
    listen();
  }, ms);
}

// ---- one of the things that may be done, picked out on the board ------------------------------------------------------

let picked = "";

function pick(index) {
  picked = index;
  document.querySelector(".plan")?.classList.toggle("has-pick", index !== "");
  for (const one of document.querySelectorAll("[data-option]")) {
    one.classList.toggle("is-picked", one.dataset.option === index);
    if (one.matches("button")) one.setAttribute("aria-pressed", one.dataset.option === index);
  }
}

document.addEventListener("click", (event) => {
  const row = event.target.closest("button.option-row");
  if (row) pick(row.dataset.option === picked ? "" : row.dataset.option);
});
document.addEventListener("exchanged", () => pick(document.querySelector(`.option-row[data-option="${picked}"]`) ? picked : ""));

// ---- a calliper that types like a keyboard ends each reading with Enter: it goes on to the next piece, and after the last they decide ----

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches(".readings input")) return;
  const next = [...event.target.closest(".readings").querySelectorAll("input")].find((field) => !field.value.trim());
  if (!next) return;
  event.preventDefault();
  next.focus();
});

// ---- the views of the table ---------------------------------------------------------------------------------------------

document.addEventListener("click", (event) => {
  const view = event.target.closest("a[data-view]");
  if (!view) return;
  event.preventDefault();
  history.replaceState(null, "", view.href);
  refresh();
});

listen();
