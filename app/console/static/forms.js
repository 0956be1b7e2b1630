// Forms: records are suggested while their name is typed, lines come and go, nothing is left unsaved.
"use strict";

const PAUSE = 250;
const suggested = new Map();
let typing = 0;
async function suggest(field) {
  const address = `${field.dataset.choices}?q=${encodeURIComponent(field.value.trim())}`;
  if (!suggested.has(address)) {
    const answer = await fetch(address).catch(() => null);
    if (!answer || !answer.ok || answer.redirected) return;
    suggested.set(address, (await answer.json()).items);
  }
  if (!address.endsWith(`?q=${encodeURIComponent(field.value.trim())}`)) return;
  field.list.replaceChildren(...suggested.get(address).map((text) => new Option(text, text)));
}
document.addEventListener("input", (event) => {
  if (!event.target.dataset.choices) return;
  clearTimeout(typing);
  // What was chosen from the list needs no further suggestions.
  if (event.inputType && event.inputType !== "insertReplacementText") {
    typing = setTimeout(suggest, PAUSE, event.target);
  }
});
document.addEventListener("focusin", (event) => {
  if (event.target.dataset.choices && !event.target.value) suggest(event.target);
});

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
      if (label) input.setAttribute("aria-label", label.replace(/\d+(?=\D*$)/, (number) => String(Number(number) + 1)));
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
    for (const row of fresh.querySelectorAll("[data-typed]")) fill(row, data);
  }
  // What a product gave a row; what was typed since it was asked for stays.
  function fill(fresh, sent) {
    const row = lines.querySelector(`[data-line="${fresh.dataset.typed}"]`);
    if (!row) return;
    for (const told of row.querySelectorAll(".wrong[data-told]")) told.remove();
    for (const input of fresh.querySelectorAll("[name]")) {
      const name = `line.${row.dataset.line}.${input.name.split(".")[2]}`;
      const own = row.querySelector(`[name="${name}"]`);
      if (own && own.value === sent.get(name) && own.value !== input.value) own.value = input.value;
      const wrong = input.parentElement.querySelector(".wrong");
      const isTyped = own === document.activeElement;
      if (own && own.type !== "hidden" && wrong && !isTyped && !own.parentElement.querySelector(".wrong")) {
        wrong.dataset.told = "";
        own.parentElement.append(wrong);
      }
    }
  }
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(compute, 2 * PAUSE);
  });
  lines.addEventListener("focusout", (event) => {
    if (event.target.dataset.choices && event.target.value) compute();
  });
}

// Leaving a form that was changed asks first; sending it does not. What was typed is kept in this
// browser, by address and user, until it was saved or is forgotten: a form closed by mistake comes back.
for (const form of document.querySelectorAll("form[data-unsaved]")) {
  const place = `draft-${form.dataset.unsaved}-${location.pathname}`;
  let changed = false;
  let waiting = 0;
  function keep() {
    clearTimeout(waiting);
    const typed = new URLSearchParams(new FormData(form));
    typed.delete("csrf");
    try {
      localStorage.setItem(place, typed);
    } catch {
      // No room: the question before leaving is what is left.
    }
  }
  form.addEventListener("input", () => {
    changed = true;
    clearTimeout(waiting);
    waiting = setTimeout(keep, PAUSE);
  });
  form.addEventListener("submit", () => {
    if (changed) keep();
    changed = false;
    sessionStorage.setItem("sent-form", place);
  });
  window.addEventListener("beforeunload", (event) => {
    if (!changed) return;
    keep();
    event.preventDefault();
  });
  const found = localStorage.getItem(place);
  const offer = document.getElementById("kept");
  if (!offer || !found) continue;
  offer.hidden = false;
  offer.querySelector("[data-bring-back]").addEventListener("click", () => {
    const again = document.createElement("form");
    again.method = "post";
    for (const [name, value] of [...new URLSearchParams(found), ["csrf", form.elements.csrf.value], ["resume", "1"]]) {
      again.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    document.body.append(again);
    changed = false;
    again.submit();
  });
  offer.querySelector("[data-forget]").addEventListener("click", () => {
    localStorage.removeItem(place);
    offer.remove();
  });
}
