// A player's phone: as the panel, and it looks again when it wakes up.

import "./panel.js";
import { refresh } from "./parts.js";

document.addEventListener("visibilitychange", () => document.hidden || refresh());
