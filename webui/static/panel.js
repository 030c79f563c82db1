// Keeps the page as the server would write it now.  The server draws everything; this only exchanges the parts that changed.

const WATCH_MS = 37_500; // two and a half of the server's beats
const PICTURE_MS = 400; // at most so often a new camera picture
const IDLE_MS = 1_000; // how often the drawing follows pieces that are seen to move, between rulings

const link = document.getElementById("link");
const camera = document.getElementById("camera");
const spoken = document.getElementById("spoken"); // read aloud when the verdict changes
const written = new Map(); // part -> HTML as the server last wrote it

for (const part of document.querySelectorAll("[data-part]")) written.set(part.dataset.part, part.outerHTML);

// ---- parts -------------------------------------------------------------------------------------------------------

function exchange(page, answersForm = false) {
  if (page.body.dataset.instance !== document.body.dataset.instance) return location.reload();
  for (const fresh of page.querySelectorAll("[data-part]")) {
    const name = fresh.dataset.part;
    const old = document.querySelector(`[data-part="${name}"]`);
    if (name === "notice" && !answersForm) continue; // it stays until the next form is sent
    if (!old || written.get(name) === fresh.outerHTML || beingFilled(old)) continue;
    written.set(name, fresh.outerHTML);
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    for (const open of old.querySelectorAll("details[open][id]")) fresh.querySelector(`#${open.id}`)?.setAttribute("open", "");
    old.replaceWith(fresh);
    if (focused) document.getElementById(focused)?.focus();
  }
  const said = document.querySelector("#verdict .said").textContent.trim();
  if (spoken.textContent !== said) spoken.textContent = said;
}

function beingFilled(part) {
  const field = document.activeElement;
  return part.contains(field) && field.matches("input, select, textarea");
}

// ---- asking for the page: one question at a time, the newest wins ---------------------------------------------------

let asking = false;
let askAgain = false;

async function refresh() {
  if (asking) return void (askAgain = true);
  asking = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.ok) exchange(parse(await answer.text()));
  } catch {
    // The stream says when the server is gone.
  }
  asking = false;
  if (askAgain) {
    askAgain = false;
    refresh();
  }
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

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
    const words = now.status + now.said;
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

// ---- the camera's picture: loaded first, then shown, never faster than it loads ---------------------------------------

let loading = false;

async function show(frame) {
  if (frame < 0 || loading || document.hidden || String(frame) === camera.dataset.frame) return;
  loading = true;
  const next = new Image();
  next.src = `${camera.dataset.url}?frame=${frame}`;
  try {
    await next.decode();
    camera.src = next.src;
    camera.dataset.frame = frame;
  } catch {
    // No picture yet, or the camera is lost; the status says so.
  }
  setTimeout(() => (loading = false), PICTURE_MS);
}

// ---- forms and links without leaving the page -------------------------------------------------------------------------

document.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const button = event.submitter;
  const body = new URLSearchParams(new FormData(form, button));
  if (button) button.disabled = true;
  document.activeElement?.blur();
  try {
    const answer = await fetch(form.action + location.search, { method: "POST", body, headers: { Accept: "text/html" } });
    exchange(parse(await answer.text()), true);
    if (answer.ok) form.reset();
  } catch {
    link.hidden = false;
  }
  if (button) button.disabled = false;
});

document.addEventListener("click", (event) => {
  const view = event.target.closest("a[data-view]");
  if (!view) return;
  event.preventDefault();
  history.replaceState(null, "", view.href);
  refresh();
});

document.addEventListener("focusout", () => setTimeout(refresh, 0));
listen();
