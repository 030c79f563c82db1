// Four handles on a photograph, dragged or moved with the arrow keys.  The numbers in the form are the truth; handles follow them.

import { link, refresh } from "./parts.js";

const LOOK_MS = 500;
const LOUPE_SHARE = 1 / 24; // half the width of what the close-up shows, in widths of the photograph
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

const drawing = document.getElementById("photograph");
const drawn = document.getElementById("corners-drawn");
const loupe = document.getElementById("loupe");
const put = document.getElementById("put");
const handles = [...document.querySelectorAll(".handle")];
const [width, height] = [Number(drawn.dataset.width), Number(drawn.dataset.height)];

const field = (handle) => document.getElementById(handle.dataset.input);
const place = (handle) => field(handle).value.split(",").map(Number);
let chosen = handles[0];

function move(handle, x, y) {
  const inside = (value, size) => Math.min(Math.max(value, -0.5), size - 0.5).toFixed(1);
  field(handle).value = `${inside(x, width)}, ${inside(y, height)}`;
  draw();
}

function draw() {
  const places = handles.map(place);
  if (places.some((at) => at.length !== 2 || !at.every(Number.isFinite))) return; // somebody is typing
  handles.forEach((handle, index) => {
    const [x, y] = places[index];
    handle.setAttribute("transform", `translate(${x} ${y})`);
    handle.setAttribute("aria-label", handle.dataset.label.replace("{x}", x).replace("{y}", y));
  });
  for (const board of document.querySelectorAll(".board, .board-under")) board.setAttribute("points", places.join(" "));
  const [x, y] = places[handles.indexOf(chosen)];
  const half = width * LOUPE_SHARE;
  loupe.setAttribute("viewBox", `${x - half} ${y - (half * 2) / 3} ${2 * half} ${(half * 4) / 3}`);
  document.getElementById("loupe-name").textContent = chosen.dataset.name;
  document.getElementById("loupe-cross").setAttribute("d", `M${x - half / 6} ${y}h${half / 3}M${x} ${y - half / 6}v${half / 3}`);
}

for (const handle of handles) {
  let from = null; // where in the handle it was taken
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(drawing.getScreenCTM().inverse());
  handle.addEventListener("pointerdown", (event) => {
    const [x, y] = place(handle);
    const { x: px, y: py } = at(event);
    from = [px - x, py - y];
    handle.setPointerCapture(event.pointerId);
    handle.focus();
    event.preventDefault();
  });
  handle.addEventListener("pointermove", (event) => {
    if (from) move(handle, at(event).x - from[0], at(event).y - from[1]);
  });
  for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => (from = null));
  handle.addEventListener("focus", () => {
    chosen = handle;
    draw();
  });
  handle.addEventListener("keydown", (event) => {
    if (!(event.key in STEPS)) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : event.altKey ? 0.1 : 1;
    const [x, y] = place(handle);
    move(handle, x + step * STEPS[event.key][0], y + step * STEPS[event.key][1]);
  });
  field(handle).addEventListener("input", draw);
  field(handle).addEventListener("focus", () => {
    chosen = handle;
    draw();
  });
}

async function look() {
  const there = await refresh();
  const now = document.querySelector("[data-stage]");
  put.disabled = now.dataset.stage !== "at work";
  if (now.dataset.ended !== undefined) return;
  link.hidden = there;
  setTimeout(look, LOOK_MS);
}

draw();
look();
