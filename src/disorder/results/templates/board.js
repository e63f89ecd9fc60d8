"use strict";
// Sorts and filters the rows of the board. Without it the page shows all of them, in ranked order.

const table = document.querySelector("#board");
const body = table.tBodies[0];
const rows = [...body.rows];
const form = document.querySelector("#filters");
const count = document.querySelector("#count");

function value(row, key) {
  const text = row.dataset[key];
  const number = Number(text);
  return text === "" || text === undefined ? null : Number.isNaN(number) ? text.toLowerCase() : number;
}

function sortBy(button) {
  const head = button.closest("th");
  const isDown = head.getAttribute("aria-sort") === "ascending";
  for (const other of table.querySelectorAll("th[aria-sort]")) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", isDown ? "descending" : "ascending");
  const key = button.dataset.key;
  const sign = isDown ? -1 : 1;
  rows.sort((a, b) => {
    const x = value(a, key);
    const y = value(b, key);
    if (x === null || y === null) return (x === null) - (y === null); // what was not measured comes last
    return x === y ? 0 : x < y ? -sign : sign;
  });
  body.append(...rows);
}

function filter() {
  const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const row of rows) {
    const text = `${row.dataset.model} ${row.dataset.data}`.toLowerCase();
    const passes =
      words.every((word) => text.includes(word)) &&
      (!form.elements.data.value || row.dataset.data === form.elements.data.value) &&
      (!form.elements.conclusion.value || row.dataset.conclusion === form.elements.conclusion.value) &&
      (form.elements.older.checked || row.dataset.newest === "1");
    row.hidden = !passes;
    shown += passes ? 1 : 0;
  }
  count.textContent = `${shown} of ${rows.length} runs`;
}

for (const button of table.querySelectorAll("button[data-key]")) {
  button.addEventListener("click", () => sortBy(button));
}
form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("reset", () => setTimeout(filter));
form.addEventListener("submit", (event) => event.preventDefault());
filter();
