// Forms: records are suggested while their name is typed, lines come and go, nothing is left unsaved.
"use strict";

const PAUSE = 250;
for (const field of document.querySelectorAll("[data-choices]")) {
  const known = new Map();
  let waiting = 0;
  async function suggest() {
    const typed = field.value.trim();
    if (!known.has(typed)) {
      const answer = await fetch(`${field.dataset.choices}?q=${encodeURIComponent(typed)}`).catch(() => null);
      if (!answer || !answer.ok || answer.redirected) return;
      known.set(typed, (await answer.json()).items);
    }
    if (field.value.trim() !== typed) return;
    field.list.replaceChildren(...known.get(typed).map((text) => new Option(text, text)));
  }
  field.addEventListener("input", (event) => {
    clearTimeout(waiting);
    // What was chosen from the list needs no further suggestions.
    if (event.inputType && event.inputType !== "insertReplacementText") waiting = setTimeout(suggest, PAUSE);
  });
  field.addEventListener("focus", () => {
    if (!field.value) suggest();
  });
}

const lines = document.querySelector(".lines tbody");
if (lines) {
  let last = Math.max(...[...lines.rows].map((row) => Number(row.dataset.line)));
  lines.addEventListener("click", (event) => {
    const button = event.target.closest("[data-remove-line]");
    if (!button) return;
    const row = button.closest("tr");
    const beside = row.nextElementSibling || row.previousElementSibling;
    if (beside) row.remove();
    else for (const input of row.querySelectorAll("input")) input.value = "";
    (beside || row).querySelector("input:not([type=hidden])").focus();
    lines.closest("form").dispatchEvent(new Event("input"));
  });
  document.querySelector("[data-add-line]").addEventListener("click", () => {
    const row = lines.rows[lines.rows.length - 1].cloneNode(true);
    const before = row.dataset.line;
    last += 1;
    row.dataset.line = String(last);
    for (const part of row.querySelectorAll(".wrong")) part.remove();
    for (const input of row.querySelectorAll("input, select, button")) {
      if (input.name) input.name = input.name.replace(`line.${before}.`, `line.${last}.`);
      input.removeAttribute("aria-invalid");
      input.removeAttribute("aria-describedby");
      const label = input.getAttribute("aria-label");
      if (label) input.setAttribute("aria-label", label.replace(/\d+$/, String(last + 1)));
      if (input.tagName === "INPUT") input.value = "";
      else if (input.tagName === "SELECT") input.selectedIndex = 0;
    }
    lines.append(row);
    row.querySelector("input:not([type=hidden])").focus();
  });
}

// The totals of the lines, by the server: it computes, and the page shows.
const totals = document.getElementById("totals");
if (totals && lines) {
  const form = lines.closest("form");
  let waiting = 0;
  let asked = 0;
  async function compute() {
    const data = new URLSearchParams(new FormData(form));
    data.set("step", "totals");
    const mine = (asked += 1);
    const answer = await fetch(location.href, { method: "POST", body: data }).catch(() => null);
    if (!answer || !answer.ok || answer.redirected || mine !== asked) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    const now = fresh.getElementById("totals");
    if (now && now.innerHTML !== totals.innerHTML) totals.replaceChildren(...now.childNodes);
  }
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(compute, 2 * PAUSE);
  });
}

// Leaving a form that was changed asks first; sending it does not.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  let changed = false;
  form.addEventListener("input", () => (changed = true));
  form.addEventListener("submit", () => (changed = false));
  window.addEventListener("beforeunload", (event) => {
    if (changed) event.preventDefault();
  });
}
