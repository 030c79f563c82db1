// The virtual table: pieces are dragged, turned and tapped here; the server keeps them and draws them.

const LOOK_MS = 400; // how often the table is looked at
const HOLD_MS = 250; // how often the server is told where the hand is
const TAP_PX = 6; // a pointer that moves less has tapped
const TURN_DEG = 15; // a key, or a notch of the wheel
const STEP_MM = 5; // an arrow key

const table = document.querySelector(".virtual");
const svg = document.getElementById("virtual");
const menu = document.getElementById("piece-menu");
const handle = document.getElementById("handle");
const said = document.getElementById("virtual-said");
let mark = ""; // of the table as it was drawn last
let chosen = ""; // the name of the piece whose menu is open
let shows = false; // whether the example of a lesson is drawn
let drag = null;
let room = 0; // px that the pieces beside the table have ever needed: what is below them stays while they come and go

addEventListener("resize", () => (room = 0));

// ---- the table as the server has it ------------------------------------------------------------------------------------

async function look() {
  try {
    const answer = await fetch(svg.dataset.url, { headers: mark ? { "If-None-Match": mark } : {} });
    const page = answer.ok && (await answer.text());
    if (!page || drag) return; // a piece in the hand must not be exchanged under it
    mark = answer.headers.get("ETag");
    exchange(new DOMParser().parseFromString(page, "text/html"));
  } catch {
    // the panel says that it is not connected
  }
}

async function watch() {
  if (!document.hidden && !drag) await look();
  setTimeout(watch, LOOK_MS);
}

function exchange(page) {
  const focused = document.activeElement;
  const [id, name] = [focused?.id, focused?.dataset?.name];
  room = Math.max(room, document.getElementById("reserve").offsetHeight);
  for (const part of ["lying", "example", "lesson", "reserve", "virtual-controls"]) {
    const [old, fresh] = [document.getElementById(part), page.getElementById(part)];
    if (!old.isEqualNode(fresh)) old.replaceWith(fresh); // the same stays: it may be read aloud, or under a finger
  }
  document.getElementById("reserve").style.minHeight = `${room}px`;
  if (!document.activeElement || document.activeElement === document.body) (id ? document.getElementById(id) : name && named(name))?.focus();
  choose(chosen);
  showExample(shows);
}

function showExample(wanted) {
  shows = wanted;
  document.getElementById("example").classList.toggle("is-shown", shows);
  document.getElementById("lesson-show")?.setAttribute("aria-pressed", String(shows));
}

const named = (name) => svg.querySelector(`[data-name="${CSS.escape(name)}"]`);

async function send(url, document_) {
  const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json", Accept: "application/json" }, body: JSON.stringify(document_) });
  said.hidden = answer.ok;
  if (!answer.ok) said.textContent = (await answer.json()).error.said;
  return answer.ok;
}

async function act(what, piece, more = {}) {
  await send(svg.dataset.url, { do: what, piece, ...more });
  mark = "";
  await look();
}

// ---- the menu of a piece -------------------------------------------------------------------------------------------------

function choose(name) {
  const piece = name && named(name);
  svg.querySelector(".is-chosen")?.classList.remove("is-chosen");
  chosen = piece ? name : "";
  menu.hidden = !piece;
  handle.replaceChildren();
  if (!piece) return;
  piece.classList.add("is-chosen");
  document.getElementById("piece-name").textContent = piece.dataset.label;
  const may = piece.dataset.may.split(" ");
  for (const button of menu.querySelectorAll("button")) button.parentElement.hidden = !may.includes(button.dataset.do);
  if (!may.includes("turn")) return;
  const [x, y, reach] = [Number(piece.dataset.x), Number(piece.dataset.y), Number(piece.dataset.reach) + 12];
  handle.append(drawn("line", { x1: x, y1: y, x2: x, y2: y - reach }), drawn("circle", { cx: x, cy: y - reach, r: 5, "data-turns": name }));
}

function drawn(tag, attributes) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

// ---- dragging: by mouse or finger; a second finger, the wheel or the handle turns -------------------------------------------

function at(event) {
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  return [x, y];
}

const angle = ([ax, ay], [bx, by]) => (Math.atan2(ay - by, bx - ax) * 180) / Math.PI; // counter-clockwise, y down

table.addEventListener("pointerdown", (event) => {
  if (drag) {
    drag.second ??= { id: event.pointerId, from: at(event), to: at(event) };
    return;
  }
  const turns = event.target.dataset.turns;
  const source = turns ? named(turns) : event.target.closest("[data-name]");
  if (!source || event.button) return;
  event.preventDefault();
  source.focus();
  const middle = [Number(source.dataset.x), Number(source.dataset.y)];
  const from = "reserve" in source.dataset ? middle : at(event);
  drag = { id: event.pointerId, name: source.dataset.name, source, turns: Boolean(turns), middle, from, start: [event.clientX, event.clientY], by: [0, 0], turn: 0, moved: false, told: 0 };
  if ("reserve" in source.dataset) {
    drag.ghost = source.querySelector("g").cloneNode(true);
    drag.by = [1e5, 1e5]; // not over the table yet
  }
});

addEventListener("pointermove", (event) => {
  if (!drag) return;
  if (drag.second?.id === event.pointerId) {
    const to = at(event);
    const finger = [drag.middle[0] + drag.by[0], drag.middle[1] + drag.by[1]];
    drag.turn += angle(finger, to) - angle(finger, drag.second.to);
    drag.second.to = to;
  } else if (drag.id === event.pointerId) {
    drag.moved ||= Math.hypot(event.clientX - drag.start[0], event.clientY - drag.start[1]) > TAP_PX;
    if (!drag.moved) return;
    const [x, y] = at(event);
    if (drag.turns) drag.turn = angle(drag.middle, [x, y]) - angle(drag.middle, drag.from);
    else drag.by = [x - drag.from[0], y - drag.from[1]];
  }
  if (drag.moved) show();
});

function show() {
  const { by, middle, turn, name } = drag;
  table.classList.add("is-dragging");
  handle.replaceChildren();
  if (drag.ghost && !drag.ghost.isConnected) svg.append(drag.ghost);
  const held = drag.ghost ?? drag.source;
  held.classList.add("is-held");
  held.setAttribute("transform", `translate(${by[0]} ${by[1]}) rotate(${-turn} ${middle[0]} ${middle[1]})`);
  if (performance.now() - drag.told < HOLD_MS || drag.turns || !onTable()) return;
  drag.told = performance.now();
  send(svg.dataset.url, { do: "hold", piece: name, ...place() });
}

function onTable() {
  const box = svg.viewBox.baseVal;
  const [x, y] = [drag.middle[0] + drag.by[0], drag.middle[1] + drag.by[1]];
  return x >= box.x && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
}

const place = () => ({ x_mm: drag.middle[0] + drag.by[0], y_mm: -(drag.middle[1] + drag.by[1]), turn_deg: drag.turn % 360 });

setInterval(() => {
  if (drag?.moved && performance.now() - drag.told > 4 * HOLD_MS) show(); // the hand is still there
}, HOLD_MS);

async function release(event) {
  if (!drag) return;
  if (drag.second?.id === event.pointerId) return (drag.second = null);
  if (drag.id !== event.pointerId) return;
  const { name, moved, turns, turn, ghost } = drag;
  const [there, lies] = [onTable(), place()];
  drag = null; // the next piece may be taken before the server has answered
  table.classList.remove("is-dragging");
  if (moved && event.type === "pointerup") {
    choose("");
    if (turns) await send(svg.dataset.url, { do: "turn", piece: name, turn_deg: turn });
    else if (there) await send(svg.dataset.url, { do: "drop", piece: name, ...lies });
    else if (!ghost) await send(svg.dataset.url, { do: "take", piece: name });
  } else if (!ghost && !turns) choose(chosen === name ? "" : name);
  ghost?.remove();
  mark = "";
  await look();
}

addEventListener("pointerup", release);
addEventListener("pointercancel", release);

svg.addEventListener("wheel", (event) => {
  if (!drag && !chosen) return;
  event.preventDefault();
  const turn = event.deltaY > 0 ? -TURN_DEG : TURN_DEG;
  if (!drag) return act("turn", chosen, { turn_deg: turn });
  drag.turn += turn;
  if (drag.moved) show();
}, { passive: false });

// ---- keys and buttons ------------------------------------------------------------------------------------------------------

const MOVES = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

svg.addEventListener("keydown", (event) => {
  const piece = event.target.closest?.("[data-name]");
  if (!piece) return;
  const { name, x, y } = piece.dataset;
  const step = event.shiftKey ? 1 : STEP_MM;
  if (event.key in MOVES) act("drop", name, { x_mm: Number(x) + step * MOVES[event.key][0], y_mm: -Number(y) + step * MOVES[event.key][1] });
  else if (event.key === "q" || event.key === "e") act("turn", name, { turn_deg: event.key === "q" ? TURN_DEG : -TURN_DEG });
  else if (event.key === "Delete") act("take", name);
  else if (event.key === "Enter" || event.key === " ") choose(chosen === name ? "" : name);
  else return;
  event.preventDefault();
});

table.addEventListener("click", async (event) => {
  const button = event.target.closest("button");
  if (!button) return;
  const { do: what, turn, sit, leave, pace, reserve, name, restart, lesson, show: shown } = button.dataset;
  if (what) act(what, button.closest("menu") ? chosen : "", turn ? { turn_deg: Number(turn) } : {});
  else if (restart) await send(restart, { command: "next_game" });
  else if (shown !== undefined) showExample(!shows);
  else if (lesson) {
    showExample(false);
    choose("");
    await send(svg.dataset.lessonUrl, { number: Number(lesson) });
    mark = "";
    look();
  }
  else if (reserve !== undefined && event.detail === 0) {
    const box = svg.viewBox.baseVal; // by a key: on to the middle of the table
    act("drop", name, { x_mm: box.x + box.width / 2, y_mm: -(box.y + box.height / 2) });
  } else if (sit || leave || pace) {
    await send(svg.dataset.players, { ...(sit && { sit }), ...(leave && { leave }), ...(pace && { pace }) });
    mark = "";
    look();
  }
});

watch();
