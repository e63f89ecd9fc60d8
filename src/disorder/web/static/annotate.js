// Answers by key, and goes on where it was when the server was away. Without this file the forms work as they are.
"use strict";

const CALM = 250; // ms after a new item in which a second click or key of the last one is not taken for an answer
const WAITS = [500, 1000, 2000, 5000]; // ms before trying again
let busy = false;
let calmUntil = 0;
let seen = 0; // ms in view before the page was last hidden
let since = performance.now();

function show() {
  const box = document.getElementById("shortcuts");
  if (box) {
    box.closest("p").hidden = false;
    box.checked = shortcutsAreOn();
    box.addEventListener("change", () => localStorage.setItem("disorder-shortcuts", box.checked ? "on" : "off"));
  }
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", submitted);
  seen = 0;
  since = performance.now();
  setTimeout(() => { document.querySelector("main").dataset.ready = "yes"; }, Math.max(0, calmUntil - performance.now()));
}

function shortcutsAreOn() {
  return localStorage.getItem("disorder-shortcuts") !== "off";
}

function say(text) {
  document.getElementById("said").textContent = text;
}

function submitted(event) {
  event.preventDefault();
  const button = event.submitter;
  if (busy || !button || performance.now() < calmUntil) return;
  const form = event.target;
  if (form.elements.seconds) {
    form.elements.seconds.value = ((seen + (document.hidden ? 0 : performance.now() - since)) / 1000).toFixed(2);
  }
  const body = new URLSearchParams(new FormData(form, button));
  button.classList.add("chosen");
  send(form.action, body);
}

async function send(address, body) {
  busy = true;
  for (let n = 0; ; n++) {
    let answer;
    try {
      answer = await fetch(address, { method: "POST", body });
    } catch {
      say("Not saved yet: the server cannot be reached. Trying again; you can leave this page open.");
      await new Promise((done) => setTimeout(done, WAITS[Math.min(n, WAITS.length - 1)]));
      continue;
    }
    const text = await answer.text();
    if (answer.ok) replace(text);
    else await abstained(text);
    break;
  }
  busy = false;
}

// What the server will not take is said, and the page shows what is true now.
async function abstained(reason) {
  try {
    const now = await fetch("/item");
    if (now.ok) replace(await now.text());
  } catch { /* the reason is said all the same */ }
  say(reason);
}

function replace(text) {
  const next = new DOMParser().parseFromString(text, "text/html");
  document.title = next.title;
  document.body.replaceChildren(...next.body.childNodes);
  calmUntil = performance.now() + CALM;
  window.scrollTo(0, 0);
  show();
  const heading = document.querySelector("h1");
  if (heading) heading.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !shortcutsAreOn()) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const button = [...document.querySelectorAll("[data-keys]")].find((one) => one.dataset.keys.split(" ").includes(key));
  if (!button || (key === "Enter" && document.activeElement !== document.body)) return; // Enter is for what has the focus
  event.preventDefault();
  button.click();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) seen += performance.now() - since;
  else since = performance.now();
});

show();
