// A player's phone: as the panel, and it looks again when it wakes up.

import "./panel.js";
import { refresh } from "./parts.js";

const BUZZ_MS = [120, 80, 120];
let asked = document.querySelector("[data-buzz]") !== null;

// It buzzes when its player is needed, as far as the browser lets it.
document.addEventListener("exchanged", () => {
  const now = document.querySelector("[data-buzz]") !== null;
  if (now && !asked) navigator.vibrate?.(BUZZ_MS);
  asked = now;
});

document.addEventListener("visibilitychange", () => document.hidden || refresh());
