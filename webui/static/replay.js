// Looking back on a session: the time-line, steps by keyboard, and replay at any speed.  The server draws every moment.

import { refresh } from "./parts.js";

const LONGEST_MS = 4_000; // no pause of the players is waited for longer
const SHORTEST_MS = 150;

const line = document.getElementById("line");
const play = document.getElementById("play");
const speed = document.getElementById("speed");
const steps = document.body.dataset.steps.split(" ").filter(Boolean);
const times = document.body.dataset.times.split(" ").map(Number);
let playing;

function go(index) {
  if (index < 0 || index >= steps.length) return;
  line.value = index;
  const url = new URL(location.href);
  url.searchParams.set("at", steps[index]);
  history.replaceState(null, "", url);
  return refresh();
}

const here = () => Number(line.value);

async function next() {
  await go(here() + 1);
  line.setAttribute("aria-valuetext", document.querySelector("[data-aloud]").textContent.trim());
  if (playing) wait();
}

function wait() {
  const at = here();
  if (at >= steps.length - 1) return stop();
  const pause = (times[at + 1] - times[at]) / Number(speed.value);
  playing = setTimeout(next, Math.min(LONGEST_MS, Math.max(SHORTEST_MS, pause)));
}

function stop() {
  clearTimeout(playing);
  playing = undefined;
  play.textContent = play.dataset.play;
}

function toggle() {
  if (playing) return stop();
  if (here() >= steps.length - 1) go(0);
  play.textContent = play.dataset.pause;
  wait();
}

// ---- what people press -----------------------------------------------------------------------------------------------

const KEYS = { ArrowLeft: () => go(here() - 1), ArrowRight: () => go(here() + 1), Home: () => go(0), End: () => go(steps.length - 1), " ": toggle };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("button, select, summary, a") || !KEYS[event.key]) return;
  event.preventDefault();
  if (event.key !== " ") stop();
  KEYS[event.key]();
});

document.addEventListener("click", (event) => {
  const view = event.target.closest("a[data-view]");
  if (!view) return;
  event.preventDefault();
  stop();
  history.replaceState(null, "", view.href);
  const at = steps.indexOf(new URL(view.href).searchParams.get("at"));
  if (at >= 0) line.value = at;
  refresh();
});

line.addEventListener("input", () => go(here()));
play.addEventListener("click", toggle);
line.disabled = steps.length < 2;
play.hidden = speed.parentElement.hidden = steps.length < 2;
