// Pictures that go on: each is fetched anew once a second, and shown when it is whole.

const PICTURE_MS = 1_000;

async function next(picture) {
  const fresh = new Image();
  fresh.src = `${picture.dataset.live}?at=${Date.now()}`;
  try {
    await fresh.decode();
    picture.src = fresh.src;
    picture.classList.add("is-live");
  } catch {
    // No picture yet.
  }
}

async function all() {
  if (!document.hidden) await Promise.all([...document.querySelectorAll("img[data-live]")].map(next));
  setTimeout(all, PICTURE_MS);
}

all();
