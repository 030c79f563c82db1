// Photographs are sent as soon as they are chosen or dropped, one after the other, and their gaps put on the page.  Without this script the form does the same.

const form = document.getElementById("send");
const results = document.getElementById("results");
const upload = document.getElementById("upload");
const bar = document.getElementById("upload-done");
const label = upload.querySelector("label");
const failed = document.getElementById("upload-failed");
const spoken = document.getElementById("spoken");
const [camera, chosen] = ["camera-file", "photo-file"].map((id) => document.getElementById(id));

for (const part of document.querySelectorAll("[data-scripted]")) part.hidden = false;
for (const part of document.querySelectorAll("[data-plain]")) part.hidden = true;
chosen.classList.add("sr");

let waiting = Promise.resolve();

function send(address, body) {
  failed.hidden = true;
  waiting = waiting.then(() => asked(address, body)).then(show, () => (failed.hidden = false)).then(() => (upload.hidden = true));
}

function asked(address, body) {
  return new Promise((done, wrong) => {
    const request = new XMLHttpRequest();
    upload.hidden = false;
    bar.value = 0;
    label.textContent = label.dataset.sending;
    request.upload.onprogress = (event) => (bar.value = (100 * event.loaded) / event.total);
    request.upload.onload = () => {
      bar.removeAttribute("value"); // how long measuring takes is not known
      label.textContent = label.dataset.measuring;
    };
    request.onload = () => done(request.responseText);
    request.onerror = wrong;
    request.open("POST", address);
    request.setRequestHeader("Accept", "text/html");
    request.send(body);
  });
}

function show(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  const found = [...page.querySelectorAll("[data-result]")];
  if (!found.length) {
    const said = page.querySelector(".said")?.textContent ?? "";
    failed.textContent = said || failed.textContent;
    failed.hidden = false;
  }
  for (const result of found) {
    document.getElementById(result.id)?.remove();
    results.prepend(result);
    ready(result);
    result.scrollIntoView({ block: "start" });
    spoken.textContent = result.querySelector("[data-aloud]").textContent;
  }
}

function ready(result) {
  const again = result.querySelector("form");
  again.addEventListener("submit", (event) => {
    event.preventDefault();
    send(again.action, new FormData(again));
  });
  const share = result.querySelector("[data-share]");
  if (!share || !navigator.canShare) return;
  fetch(share.dataset.share)
    .then((answer) => answer.blob())
    .then((picture) => {
      const shared = { files: [new File([picture], "gaps.jpg", { type: "image/jpeg" })], text: share.dataset.text };
      share.hidden = !navigator.canShare(shared);
      share.addEventListener("click", () => navigator.share(shared).catch(() => {})); // somebody thought better of it
    })
    .catch(() => {});
}

function sendFiles(files) {
  document.getElementById("too-large").hidden = [...files].every((file) => file.size <= form.dataset.most);
  for (const file of files) {
    if (file.size > form.dataset.most) continue;
    const body = new FormData();
    body.append("token", form.elements.token.value);
    body.append("photo", file);
    send(form.action, body);
  }
}

for (const input of [camera, chosen]) {
  input.addEventListener("change", () => {
    sendFiles(input.files);
    input.value = "";
  });
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const body = new FormData();
  body.append("token", form.elements.token.value);
  body.append("sample", "1");
  send(form.action, body);
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    form.classList.toggle("is-over", kind === "dragover");
    if (kind === "drop") sendFiles([...event.dataTransfer.files]);
  });
}
for (const result of results.children) ready(result);
