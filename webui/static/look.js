// A page without a session: it looks again and again, until there is nothing more to come.

import { link, refresh, show } from "./parts.js";

const LOOK_MS = 400;

async function look() {
  const there = await refresh();
  const now = document.querySelector("[data-frame-now]");
  if (now.dataset.ended !== undefined) return;
  link.hidden = there;
  if (there) show(Number(now.dataset.frameNow));
  setTimeout(look, there ? LOOK_MS : 5 * LOOK_MS);
}

look();
