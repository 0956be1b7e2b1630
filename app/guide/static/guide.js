// Search while typing, and the menu on a phone. Without this file the form asks the server.
"use strict";
document.documentElement.classList.add("script");

const menu = document.getElementById("menu");
const button = document.querySelector(".menu-button");
button.addEventListener("click", () => {
  button.setAttribute("aria-expanded", String(menu.classList.toggle("open")));
});

const field = document.getElementById("find");
let index = null;

async function load() {
  index ??= fetch(document.body.dataset.index).then((answer) => answer.json());
  return index;
}

function find(entries, question) {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  const ranked = [];
  entries.forEach((entry, place) => {
    const title = `${entry.t} ${entry.p}`.toLowerCase();
    const text = entry.x.toLowerCase();
    if (words.every((word) => title.includes(word) || text.includes(word))) {
      ranked.push([-words.filter((word) => title.includes(word)).length, place, entry]);
    }
  });
  return ranked.sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 40).map((one) => one[2]);
}

function snippet(text, question) {
  const word = question.toLowerCase().split(/\s+/).find((one) => text.toLowerCase().includes(one));
  const begin = Math.max(0, (word ? text.toLowerCase().indexOf(word) : 0) - 90);
  return (begin ? "…" : "") + text.slice(begin, begin + 180) + (begin + 180 < text.length ? "…" : "");
}

function show(entries, question) {
  const main = document.getElementById("main");
  let results = document.getElementById("results");
  if (!results) {
    results = document.createElement("div");
    results.id = "results";
    results.setAttribute("aria-live", "polite");
    main.prepend(results);
  }
  for (const other of main.children) other.hidden = other !== results && question !== "";
  results.replaceChildren();
  if (question === "") return;
  const head = document.createElement("h1");
  head.textContent = `${entries.length} found for “${question}”`;
  const list = document.createElement("ul");
  list.className = "results";
  for (const entry of entries) {
    const item = document.createElement("li");
    item.className = "card";
    const link = document.createElement("a");
    link.href = entry.a;
    link.textContent = entry.t;
    link.addEventListener("click", () => { field.value = ""; show([], ""); });
    const page = document.createElement("small");
    page.textContent = ` ${entry.p}`;
    const text = document.createElement("p");
    text.textContent = snippet(entry.x, question);
    item.append(link, page, text);
    list.append(item);
  }
  results.append(head, list);
}

field.addEventListener("focus", load, { once: true });
field.addEventListener("input", async () => {
  const question = field.value.trim();
  if (question.length === 1) return;
  const entries = await load();
  if (question === field.value.trim()) show(find(entries, question), question);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  }
});
