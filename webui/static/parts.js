// A page as the server would write it now.  The server draws everything; this only exchanges the parts that changed.

const PICTURE_MS = 400; // at most so often a new camera picture

export const link = document.getElementById("link");
const camera = document.getElementById("camera");
const spoken = document.getElementById("spoken"); // read aloud when what is said changes
const written = new Map(); // part -> HTML as the server last wrote it
const STEADY_MS = 1_250; // a `data-steady` part stays so long as it is, unless something was put on record: a second, and what drawing takes
const changedAt = new Map(); // steady part -> when it changed last
let steadier; // asks for the page again once a part may change
let record = recordOf(document);

function recordOf(page) {
  return page.querySelector("[data-record]")?.dataset.record;
}

for (const part of document.querySelectorAll("[data-part]")) written.set(part.dataset.part, part.outerHTML);

// ---- parts -------------------------------------------------------------------------------------------------------

function exchange(page, answersForm = false) {
  if (page.body.dataset.instance !== document.body.dataset.instance || page.documentElement.lang !== document.documentElement.lang) return location.reload();
  const news = answersForm || recordOf(page) !== record;
  record = recordOf(page);
  for (const fresh of page.querySelectorAll("[data-part]")) {
    const name = fresh.dataset.part;
    const old = document.querySelector(`[data-part="${name}"]`);
    if (name === "notice" && !answersForm) continue; // it stays until the next form is sent
    if (!old || written.get(name) === fresh.outerHTML) continue;
    if (beingFilled(old) || old.contains(pressed) || ("steady" in fresh.dataset && isTooSoon(name, news))) {
      mark = ""; // it wants this part once it may be exchanged
      continue;
    }
    written.set(name, fresh.outerHTML);
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    for (const open of old.querySelectorAll("details[open][id]")) fresh.querySelector(`#${open.id}`)?.setAttribute("open", "");
    const move = stillness.matches ? null : changes(old, fresh);
    old.replaceWith(fresh);
    move?.();
    if (name === "choices") fresh.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }); // of many answers, the one that a button points at
    if (focused) document.getElementById(focused)?.focus();
  }
  document.dispatchEvent(new Event("exchanged"));
  const aloud = document.querySelector(".pointed:not([hidden])") ?? document.querySelector("[data-aloud]");
  const said = aloud.textContent.trim();
  if (spoken.textContent !== said) spoken.textContent = said;
}

// ---- motion: a piece goes from where it lay to where it lies, and points that are new stand out ------------------------------

const stillness = matchMedia("(prefers-reduced-motion: reduce)");
const MOVE_MS = 450;
const MOVED_MM = 2; // less is how well the camera reads

function pieces(part) {
  return [...part.querySelectorAll(".plan > .piece")].map((piece) => {
    const middle = piece.querySelector(".on-piece");
    return { piece, kind: piece.classList.value, x: Number(middle.getAttribute("x")), y: Number(middle.getAttribute("y")) };
  });
}

function changes(old, fresh) {
  const before = pieces(old);
  const ways = pieces(fresh).flatMap((to) => before.filter((from) => from.kind === to.kind).map((from) => ({ from, to, mm: Math.hypot(from.x - to.x, from.y - to.y) })));
  const moved = [];
  const taken = new Set();
  for (const way of ways.sort((one, other) => one.mm - other.mm)) {
    if (taken.has(way.from) || taken.has(way.to)) continue;
    taken.add(way.from).add(way.to);
    if (way.mm > MOVED_MM) moved.push(way);
  }
  const points = [...old.querySelectorAll(".scores .points")].map((one) => one.textContent);
  const scored = [...fresh.querySelectorAll(".scores .points")].filter((one, index) => index in points && one.textContent !== points[index]);
  return () => {
    for (const { from, to } of moved) to.piece.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }], { duration: MOVE_MS, easing: "ease-out" });
    for (const one of scored) one.animate([{ transform: "scale(1.6)" }, { transform: "none" }], { duration: 2 * MOVE_MS, easing: "ease-out" });
  };
}

function isTooSoon(name, news) {
  const now = performance.now();
  const wait = news ? 0 : (changedAt.get(name) ?? -STEADY_MS) + STEADY_MS - now;
  if (wait > 0) {
    clearTimeout(steadier);
    steadier = setTimeout(refresh, wait);
    return true;
  }
  changedAt.set(name, now);
  return false;
}

function beingFilled(part) {
  const field = document.activeElement;
  return part.contains(field) && field.matches("input, select, textarea");
}

// ---- a part under a finger stays: a tap on what is exchanged between press and release would be lost -----------------

const TAP_MS = 400; // after a finger is lifted its click comes within this
let pressed = null;

function letGo() {
  if (!pressed) return;
  pressed = null;
  if (!mark) refresh();
}

document.addEventListener("pointerdown", (event) => (pressed = event.target));
document.addEventListener("click", () => setTimeout(letGo, 0));
for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => setTimeout(letGo, TAP_MS));

// ---- asking for the page: one question at a time, the newest wins ---------------------------------------------------

const AGAIN_MS = 1_000; // a page that did not come is asked for again so soon

let mark = ""; // of the page as it was exchanged last: where nothing has changed, nothing is sent
let asking = false;
let askAgain = false;
let again;

export async function refresh() {
  if (asking) return (askAgain = true);
  asking = true;
  let heard = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html", ...(mark && { "If-None-Match": mark }) } });
    if (answer.ok) {
      mark = answer.headers.get("ETag");
      exchange(parse(await answer.text()));
    }
  } catch {
    heard = false;
    clearTimeout(again);
    again = setTimeout(refresh, AGAIN_MS);
  }
  asking = false;
  if (askAgain) {
    askAgain = false;
    refresh();
  }
  return heard; // whether the server is still there
}

const parse = (html) => new DOMParser().parseFromString(html, "text/html");

// ---- the camera's picture: loaded first, then shown, never faster than it loads ---------------------------------------

let loading = false;

export async function show(frame) {
  if (!camera || frame < 0 || loading || document.hidden || String(frame) === camera.dataset.frame) return;
  loading = true;
  const next = new Image();
  next.src = `${camera.dataset.url}?frame=${frame}`;
  try {
    await next.decode();
    camera.src = next.src;
    document.getElementById("backdrop")?.setAttribute("href", next.src);
    camera.dataset.frame = frame;
    camera.hidden = false;
    document.getElementById("no-picture").hidden = true;
  } catch {
    // No picture yet, or the camera is lost; the status says so.
  }
  setTimeout(() => (loading = false), PICTURE_MS);
}

// ---- forms and links without leaving the page -------------------------------------------------------------------------

document.addEventListener("submit", async (event) => {
  if ("leave" in event.target.dataset) return; // it leads to another page
  event.preventDefault();
  const form = event.target;
  const button = event.submitter;
  const body = new URLSearchParams(new FormData(form, button));
  if (button) button.disabled = true;
  document.activeElement?.blur();
  try {
    const answer = await fetch(form.action + location.search, { method: "POST", body, headers: { Accept: "text/html" } });
    exchange(parse(await answer.text()), true);
    if (answer.ok && !("keep" in form.dataset)) form.reset();
  } catch {
    link.hidden = false;
  }
  if (button) button.disabled = false;
});

document.addEventListener("focusout", () => setTimeout(refresh, 0));
