// Answers by keyboard, and sending again when the server cannot be reached. The forms also work without this file.
"use strict";

const PAUSE = 250; // ms after a new item in which a second click or key for the last one is ignored
const WAITS = [500, 1000, 2000, 5000]; // ms before sending again
let busy = false;
let ignoreUntil = 0;
let viewed = 0; // ms in view before the page was last hidden
let since = performance.now();

function show() {
  const box = document.getElementById("shortcuts");
  if (box) {
    box.closest("p").hidden = false;
    box.checked = shortcutsAreOn();
    box.addEventListener("change", () => localStorage.setItem("disorder-shortcuts", box.checked ? "on" : "off"));
  }
  for (const form of document.querySelectorAll("form")) form.addEventListener("submit", submitted);
  viewed = 0;
  since = performance.now();
  setTimeout(() => { document.querySelector("main").dataset.ready = "yes"; }, Math.max(0, ignoreUntil - performance.now()));
}

function shortcutsAreOn() {
  return localStorage.getItem("disorder-shortcuts") !== "off";
}

function showMessage(text) {
  document.getElementById("message").textContent = text;
}

function submitted(event) {
  event.preventDefault();
  const button = event.submitter;
  if (busy || !button || performance.now() < ignoreUntil) return;
  const form = event.target;
  if (form.elements.seconds) {
    form.elements.seconds.value = ((viewed + (document.hidden ? 0 : performance.now() - since)) / 1000).toFixed(2);
  }
  const body = new URLSearchParams(new FormData(form, button));
  button.classList.add("chosen");
  send(form.action, body);
}

async function send(address, body) {
  busy = true;
  for (let n = 0; ; n++) {
    let response;
    try {
      response = await fetch(address, { method: "POST", body });
    } catch {
      showMessage("Not saved yet: the server cannot be reached. Trying again; you can leave this page open.");
      await new Promise((done) => setTimeout(done, WAITS[Math.min(n, WAITS.length - 1)]));
      continue;
    }
    const text = await response.text();
    if (response.ok) replace(text);
    else await showRejection(text);
    break;
  }
  busy = false;
}

// Shows why the server did not accept an answer, and the item as it is now.
async function showRejection(reason) {
  try {
    const response = await fetch("/item");
    if (response.ok) replace(await response.text());
  } catch { /* the reason is shown anyway */ }
  showMessage(reason);
}

function replace(text) {
  const next = new DOMParser().parseFromString(text, "text/html");
  document.title = next.title;
  document.body.replaceChildren(...next.body.childNodes);
  ignoreUntil = performance.now() + PAUSE;
  window.scrollTo(0, 0);
  show();
  const heading = document.querySelector("h1");
  if (heading) heading.focus({ preventScroll: true });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || !shortcutsAreOn()) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const button = [...document.querySelectorAll("[data-keys]")].find((one) => one.dataset.keys.split(" ").includes(key));
  if (!button || (key === "Enter" && document.activeElement !== document.body)) return; // Enter belongs to the element with the focus
  event.preventDefault();
  button.click();
});

document.addEventListener("visibilitychange", () => {
  if (document.hidden) viewed += performance.now() - since;
  else since = performance.now();
});

show();
