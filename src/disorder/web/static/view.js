// What a page does beyond showing: how far a run is, words lit up on their way, and no comparison of one.
"use strict";

const EVERY = 2000; // milliseconds between questions to a run under way

function follow(section) {
  const total = section.querySelector("[data-total]");
  const quiet = section.querySelector("[data-quiet]");
  const steps = [...section.querySelectorAll("[data-step]")];
  let shown = "";
  async function ask() {
    let far;
    try {
      const answer = await fetch(section.dataset.progress);
      if (!answer.ok) return;
      far = await answer.json();
    } catch {
      return; // the server stopped; the next question will tell
    }
    if (far.status !== "started") {
      clearInterval(timer);
      location.reload();
      return;
    }
    const line = `${far.done} of ${far.expected} parts done`;
    if (line !== shown) total.textContent = shown = line; // else a screen reader would say it again
    quiet.textContent = far.is_quiet ? `; no news for ${Math.floor(far.seconds_quiet / 60)} minutes. If it was stopped, resume: disorder audit --resume` : "";
    far.steps.forEach((step, i) => {
      steps[i].querySelector("progress").value = step.done;
      steps[i].querySelector("span").textContent = `${step.done} of ${step.expected}`;
    });
  }
  const timer = setInterval(ask, EVERY);
}

function light(chart) {
  const lit = (word) => {
    chart.classList.toggle("is-lit", word !== undefined);
    chart.querySelectorAll("[data-word]").forEach((way) => way.classList.toggle("lit", way.dataset.word === word));
  };
  chart.addEventListener("pointerover", (event) => lit(event.target.closest("[data-word]")?.dataset.word));
  chart.addEventListener("pointerleave", () => lit(undefined));
}

async function fetchPart(section) {
  const place = section.querySelector("[data-place]");
  const before = place.innerHTML;
  place.textContent = "Working out the paired differences…";
  try {
    const answer = await fetch(section.dataset.fragment);
    if (answer.ok) place.innerHTML = await answer.text(); // our own server escaped it
    else place.textContent = await answer.text();
  } catch {
    place.innerHTML = before;
  }
}

function needsTwo(button) {
  const boxes = [...button.form.querySelectorAll("input[name=run]")];
  const check = () => { button.disabled = boxes.filter((box) => box.checked).length < 2; };
  boxes.forEach((box) => box.addEventListener("change", check));
  check();
}

function dropEmpty(form) {
  form.addEventListener("formdata", (event) => {
    for (const [name, value] of [...event.formData.entries()]) if (value === "") event.formData.delete(name);
  });
}

document.querySelectorAll("[data-progress]").forEach(follow);
document.querySelectorAll("[data-fragment]").forEach(fetchPart);
document.querySelectorAll("svg.bump").forEach(light);
document.querySelectorAll("[data-needs-two]").forEach(needsTwo);
document.querySelectorAll("form.filters").forEach(dropEmpty);
