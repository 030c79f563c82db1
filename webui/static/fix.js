// Pieces that are dragged, or moved and turned by keys.  The numbers in the form are the truth; the drawing follows them.

const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const TURNS = { PageUp: 5, PageDown: -5 };

const plan = document.getElementById("fix-plan");
const field = (name, piece) => document.getElementById(`${name}-${piece.dataset.piece}`);
const number = (name, piece) => Number(field(name, piece).value.replace(",", "."));

function put(piece, x, y, heading) {
  field("x", piece).value = x.toFixed(1);
  field("y", piece).value = y.toFixed(1);
  field("heading", piece).value = heading.toFixed(1);
  draw(piece);
}

function draw(piece) {
  const [x, y, heading] = ["x", "y", "heading"].map((name) => number(name, piece));
  if (![x, y, heading].every(Number.isFinite)) return; // somebody is typing
  const [x0, y0, heading0] = ["x", "y", "heading"].map((name) => Number(piece.dataset[name]));
  piece.setAttribute("transform", `translate(${x - x0} ${y0 - y}) rotate(${heading0 - heading} ${x0} ${-y0})`);
  piece.classList.toggle("is-gone", !field("there", piece).checked);
  piece.setAttribute("class", piece.getAttribute("class").replace(/\bc-\S+/, `c-${field("colour", piece).value}`));
}

function choose(piece) {
  for (const other of document.querySelectorAll("#fix details")) other.open = other.id === `piece-${piece.dataset.piece}`;
}

for (const piece of plan?.querySelectorAll(".movable") ?? []) {
  let from = null; // where in the piece it was taken
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(plan.getScreenCTM().inverse());
  piece.addEventListener("pointerdown", (event) => {
    const { x, y } = at(event);
    from = [x - number("x", piece), -y - number("y", piece)];
    field("there", piece).checked = true;
    piece.setPointerCapture(event.pointerId);
    piece.focus();
    event.preventDefault();
  });
  piece.addEventListener("pointermove", (event) => {
    if (from) put(piece, at(event).x - from[0], -at(event).y - from[1], number("heading", piece));
  });
  for (const end of ["pointerup", "pointercancel"]) piece.addEventListener(end, () => (from = null));
  piece.addEventListener("focus", () => choose(piece));
  piece.addEventListener("keydown", (event) => {
    if (!(event.key in STEPS || event.key in TURNS)) return;
    event.preventDefault();
    const step = event.shiftKey ? 10 : event.altKey ? 0.1 : 1;
    const [right, away] = STEPS[event.key] ?? [0, 0];
    put(piece, number("x", piece) + step * right, number("y", piece) + step * away, number("heading", piece) + (TURNS[event.key] ?? 0));
  });
  document.getElementById(`piece-${piece.dataset.piece}`).addEventListener("input", () => draw(piece));
}
