// The caller: verdicts spoken by the browser's own voice, and tones made here.  Both are off until somebody asks for them.
// Each record is called once: what stands on a page when it is opened or loaded again was called already.

const caller = () => document.getElementById("caller").dataset;
let called = Number(caller().seq);

document.addEventListener("exchanged", () => {
  const { seq, call, lang, sound } = caller();
  if (Number(seq) <= called) return;
  called = Number(seq);
  if (on("sounds")) play(sound);
  if (on("voice") && call) say(call, lang);
});

// ---- the two switches ------------------------------------------------------------------------------------------------

const on = (name) => document.getElementById(name).getAttribute("aria-pressed") === "true";

function keep(name, value) {
  try {
    localStorage.setItem(`rinkside-${name}`, value);
  } catch {
    // A browser that keeps nothing asks again next time.
  }
}

function kept(name) {
  try {
    return localStorage.getItem(`rinkside-${name}`) === "true";
  } catch {
    return false;
  }
}

function offer(name, there, begin) {
  const button = document.getElementById(name);
  button.hidden = !there;
  button.setAttribute("aria-pressed", there && kept(name));
  button.addEventListener("click", () => {
    const now = !on(name);
    button.setAttribute("aria-pressed", now);
    keep(name, now);
    if (now) begin();
    else speechSynthesis?.cancel();
  });
}

// ---- voice -------------------------------------------------------------------------------------------------------------

function say(words, lang = document.documentElement.lang) {
  speechSynthesis.cancel(); // the newest counts; what was not said yet is on the page
  const utterance = new SpeechSynthesisUtterance(words);
  utterance.lang = lang;
  speechSynthesis.speak(utterance);
}

// ---- tones: [begin s, length s, Hz at the beginning, Hz at the end, loudness, wave] -----------------------------------------

const TONES = {
  turn: [[0, 0.16, 587, 587, 0.16, "sine"], [0.15, 0.22, 784, 784, 0.16, "sine"]],
  hit: [[0, 0.1, 320, 90, 0.4, "triangle"], [0.05, 0.3, 140, 55, 0.35, "triangle"]],
  sink: [[0, 0.9, 392, 82, 0.3, "sine"], [0.5, 0.7, 110, 62, 0.25, "sine"]],
  refused: [[0, 0.14, 196, 185, 0.25, "triangle"], [0.2, 0.26, 165, 147, 0.25, "triangle"]],
  ask: [[0, 0.12, 523, 523, 0.16, "sine"], [0.14, 0.12, 659, 659, 0.16, "sine"], [0.28, 0.24, 880, 880, 0.16, "sine"]],
  doubt: [[0, 0.22, 440, 415, 0.16, "sine"], [0.26, 0.3, 415, 392, 0.16, "sine"]],
  over: [[0, 0.16, 523, 523, 0.2, "sine"], [0.16, 0.16, 659, 659, 0.2, "sine"], [0.32, 0.16, 784, 784, 0.2, "sine"], [0.48, 0.5, 1047, 1047, 0.2, "sine"]],
};

let audio;

function play(name) {
  // Browsers let a page be heard only after somebody touched it.
  if (!TONES[name] || navigator.userActivation?.hasBeenActive === false) return;
  audio ??= new AudioContext();
  audio.resume();
  for (const [begin, length, from, to, loud, wave] of TONES[name]) {
    const at = audio.currentTime + begin;
    const tone = new OscillatorNode(audio, { type: wave, frequency: from });
    const level = new GainNode(audio, { gain: 0 });
    tone.frequency.exponentialRampToValueAtTime(to, at + length);
    level.gain.setValueAtTime(0, at);
    level.gain.linearRampToValueAtTime(loud, at + 0.012);
    level.gain.exponentialRampToValueAtTime(0.001, at + length);
    tone.connect(level).connect(audio.destination);
    tone.start(at);
    tone.stop(at + length);
  }
}

offer("voice", "speechSynthesis" in window, () => say(document.getElementById("voice").dataset.try));
offer("sounds", "AudioContext" in window, () => play("turn"));
