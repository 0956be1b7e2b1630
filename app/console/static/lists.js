// Lists: a value is changed in its place. The page of its form is asked for the form, and the list for the row.
"use strict";

const changing = document.querySelector("table[data-changing]");
let opened = null;

async function read(address, options) {
  const answer = await fetch(address, options).catch(() => null);
  return answer && new DOMParser().parseFromString(await answer.text(), "text/html");
}

async function change(cell) {
  if (opened && opened.cell === cell) return;
  close();
  const row = cell.closest("tr");
  const path = cell.dataset.edit.split("/").map(encodeURIComponent).join("/");
  const page = await read(`${changing.dataset.changing}${row.dataset.key}/cells/${path}${location.search}`);
  const form = page && page.querySelector("form.cell");
  if (!form) location.assign(row.querySelector(".edit a").href);
  else if (!opened) {
    opened = { cell, before: [...cell.childNodes] };
    show(form);
  }
}

function show(form) {
  opened.cell.replaceChildren(form);
  opened.cell.classList.add("open");
  const field = form.querySelector(".field :is(input, select, textarea)");
  field.focus();
  if (field.select) field.select();
  form.addEventListener("submit", save);
}

function close() {
  if (!opened) return;
  const { cell, before } = opened;
  opened = null;
  cell.replaceChildren(...before);
  cell.classList.remove("open");
  cell.focus();
}

async function save(event) {
  event.preventDefault();
  const form = event.target;
  for (const button of form.querySelectorAll("button")) button.disabled = true;
  const page = await read(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const again = page && page.querySelector("form.cell");
  if (again) return show(again);
  if (!page) return close();
  const { cell } = opened;
  const row = cell.closest("tr");
  const now = page.querySelector(`tr[data-key="${row.dataset.key}"]`);
  const said = page.querySelector("main > [role=status]");
  document.querySelector("main > [role=status]")?.remove();
  if (said) {
    said.removeAttribute("data-focus");
    document.getElementById("main").prepend(said);
  }
  close();
  if (!now) return row.remove(); // the list has it no more
  const at = cell.cellIndex;
  tellTimes(now);
  row.replaceChildren(...now.childNodes);
  prepare(row);
  row.cells[at].focus();
}

function prepare(within) {
  for (const cell of within.querySelectorAll("[data-edit]")) cell.tabIndex = -1;
}

if (changing) {
  prepare(changing);
  changing.addEventListener("dblclick", (event) => {
    const cell = event.target.closest("[data-edit]");
    if (cell && !event.target.closest("a, form.cell")) change(cell);
  });
  changing.addEventListener("keydown", (event) => {
    const form = event.target.closest("form.cell");
    if (form) {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      return close();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    const row = event.target.closest("tr[data-key]");
    if (!row) return;
    const cells = [...row.querySelectorAll("[data-edit]")];
    const at = cells.indexOf(event.target.closest("[data-edit]"));
    const isCell = event.target.matches("[data-edit]");
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === "e" || (event.key === "Enter" && isCell)) {
      if (cells.length) change(cells[Math.max(at, 0)]);
    } else if (step && cells.length) cells[Math.min(Math.max(at + step, 0), cells.length - 1)].focus();
    else return;
    event.preventDefault();
  });
}
