// The wall: every table as it is told of, and a drawing of those that are in sight.

const body = document.body;
const wall = document.getElementById("wall");
const blank = document.getElementById("card");
const link = document.getElementById("link");
const phases = JSON.parse(body.dataset.phases);
const base = `/halls/${body.dataset.club}`;
const DRAW_MS = 1_500; // a table is drawn anew at most so often
const SILENT_MS = 37_500; // 2.5 beats
let newest = Number(body.dataset.newest);
let instance = "";
let heard = Date.now();
let source;

const part = (card, name) => card.querySelector(`[data-part="${name}"]`);

function write(card, table) {
  card.id = `t${table.id}`;
  card.dataset.id = table.id;
  card.dataset.phase = table.phase;
  card.dataset.seq = table.seq;
  const name = part(card, "name");
  name.textContent = table.name;
  name.href = `#t${table.id}`;
  part(card, "phase").textContent = phases[table.phase] ?? "";
  for (const one of ["game", "headline", "said", "outcome", "upcoming"]) part(card, one).textContent = table[one];
  part(card, "players").replaceChildren(
    ...table.players.map((player) => {
      const line = document.createElement("li");
      if (/^[a-z]+$/.test(player.colour)) line.classList.add(`c-${player.colour}`);
      line.classList.toggle("is-next", player.colour === table.player);
      line.append(item("span", "swatch", ""), item("span", "who", player.name), item("b", "points", player.points));
      return line;
    }),
  );
}

function show(table) {
  let card = wall.querySelector(`[data-id="${table.id}"]`);
  if (!card) {
    card = blank.content.firstElementChild.cloneNode(true);
    const after = [...wall.children].find((one) => part(one, "name").textContent.localeCompare(table.name) > 0);
    wall.insertBefore(card, after ?? null);
    sight.observe(card);
    document.getElementById("empty").hidden = true;
  }
  write(card, table);
}

function item(tag, kind, text) {
  const made = document.createElement(tag);
  made.className = kind;
  made.textContent = text;
  return made;
}

function rank(events) {
  const all = document.getElementById("events");
  all.hidden = events.length === 0;
  all.replaceChildren(
    ...events.map((event) => {
      const card = document.getElementById("event").content.firstElementChild.cloneNode(true);
      part(card, "name").textContent = event.name;
      part(card, "name").href = `${base}/tournaments/${event.id}`;
      part(card, "game").textContent = event.game;
      part(card, "leaders").replaceChildren(
        ...event.leaders.map((one) => {
          const line = document.createElement("li");
          line.append(item("span", "place", one.place), item("span", "who", one.player), item("b", "points", one.points));
          return line;
        }),
      );
      return card;
    }),
  );
}

async function draw(card) {
  const seq = card.dataset.seq;
  if (seq === "0" || card.dataset.drawn === seq || card.dataset.drawing) return;
  card.dataset.drawing = "yes";
  try {
    const answer = await fetch(`${base}/board/${card.dataset.id}?seq=${seq}`);
    if (answer.status === 200) {
      const drawing = new DOMParser().parseFromString(await answer.text(), "image/svg+xml").documentElement;
      if (drawing.nodeName === "svg") part(card, "board").replaceChildren(document.adoptNode(drawing));
    }
    card.dataset.drawn = seq;
  } catch {
    // The hub is gone; the next change asks again.
  }
  setTimeout(() => delete card.dataset.drawing, DRAW_MS);
}

const seen = new Set();
const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) seen[entry.isIntersecting ? "add" : "delete"](entry.target);
});
for (const card of wall.children) sight.observe(card);
setInterval(() => {
  if (!document.hidden) seen.forEach(draw);
}, 500);

function listen() {
  source?.close();
  source = new EventSource(`${base}/events?after=${newest}`);
  heard = Date.now();
  source.addEventListener("hello", (event) => {
    const now = JSON.parse(event.data).instance;
    if (instance && instance !== now) location.reload();
    instance = now;
    link.hidden = true;
    heard = Date.now();
  });
  source.addEventListener("table", (event) => {
    newest = Math.max(newest, Number(event.lastEventId));
    heard = Date.now();
    show(JSON.parse(event.data));
  });
  source.addEventListener("events", (event) => {
    newest = Math.max(newest, Number(event.lastEventId));
    heard = Date.now();
    rank(JSON.parse(event.data));
  });
  source.addEventListener("beat", () => {
    heard = Date.now();
  });
  source.addEventListener("error", () => {
    link.hidden = false;
  });
}

setInterval(() => {
  if (Date.now() - heard > SILENT_MS) {
    link.hidden = false;
    listen();
  }
}, 5_000);
listen();
