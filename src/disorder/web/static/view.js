// Scripts of the viewer: progress of a run, word paths and arcs, Compare for two or more runs.
"use strict";

const INTERVAL = 2000; // milliseconds between requests for the progress of a run

function follow(section) {
  const total = section.querySelector("[data-total]");
  const quiet = section.querySelector("[data-quiet]");
  const steps = [...section.querySelectorAll("[data-step]")];
  let shown = "";
  async function update() {
    let progress;
    try {
      const response = await fetch(section.dataset.progress);
      if (!response.ok) return;
      progress = await response.json();
    } catch {
      return; // the server stopped; the next request will tell
    }
    if (progress.status !== "started") {
      clearInterval(timer);
      location.reload();
      return;
    }
    const line = `${progress.done} of ${progress.expected} examples done, over all transformations`;
    if (line !== shown) total.textContent = shown = line; // otherwise a screen reader would repeat it
    quiet.textContent = progress.is_quiet ? `; nothing new for ${Math.floor(progress.seconds_quiet / 60)} minutes. If the run was stopped, resume it: disorder audit --resume` : "";
    progress.steps.forEach((step, i) => {
      steps[i].querySelector("progress").value = step.done;
      steps[i].querySelector("span").textContent = `${step.done} of ${step.expected}`;
    });
  }
  const timer = setInterval(update, INTERVAL);
}

function highlight(chart) {
  const lit = (word) => {
    chart.classList.toggle("is-lit", word !== undefined);
    chart.querySelectorAll("[data-word]").forEach((path) => path.classList.toggle("lit", path.dataset.word === word));
  };
  chart.addEventListener("pointerover", (event) => lit(event.target.closest("[data-word]")?.dataset.word));
  chart.addEventListener("pointerleave", () => lit(undefined));
}

// An arc from a word that moved to the place it came from, while it is pointed at.
function arcs(paragraph) {
  const words = [...paragraph.querySelectorAll("[data-word]")];
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  drawing.setAttribute("aria-hidden", "true");
  drawing.append(path);
  paragraph.append(drawing);
  const top = (word) => {
    const frame = paragraph.getBoundingClientRect();
    const box = word.getBoundingClientRect();
    return [box.left + box.width / 2 - frame.left, box.top - frame.top];
  };
  const draw = (word) => {
    const source = word && words[Number(word.dataset.word) - 1];
    words.forEach((one) => one.classList.toggle("lit", one === word));
    if (!source || source === word) return path.removeAttribute("d");
    const [x1, y1] = top(source);
    const [x2, y2] = top(word);
    const lift = Math.min(28, 8 + Math.abs(x2 - x1) / 8);
    path.setAttribute("d", `M ${x1} ${y1} C ${x1} ${y1 - lift}, ${x2} ${y2 - lift}, ${x2} ${y2}`);
  };
  paragraph.addEventListener("pointerover", (event) => draw(event.target.closest("[data-word]")));
  paragraph.addEventListener("pointerleave", () => draw(null));
}

async function fetchFragment(section) {
  const place = section.querySelector("[data-place]");
  const before = place.innerHTML;
  place.textContent = "Computing the paired differences…";
  try {
    const response = await fetch(section.dataset.fragment);
    if (response.ok) place.innerHTML = await response.text(); // escaped by our own server
    else place.textContent = await response.text();
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
document.querySelectorAll("[data-fragment]").forEach(fetchFragment);
document.querySelectorAll("svg.bump").forEach(highlight);
document.querySelectorAll("p.words").forEach(arcs);
document.querySelectorAll("[data-needs-two]").forEach(needsTwo);
document.querySelectorAll("form.filters").forEach(dropEmpty);
