// The pages work without this; it spares a click here and there.
"use strict";
document.documentElement.classList.add("script");

const menu = document.querySelector(".menu-button");
if (menu) {
  menu.addEventListener("click", () => {
    const open = document.getElementById("menu").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });
}

function listenTo(within) {
  for (const button of within.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", (event) => {
      if (!window.confirm(button.dataset.confirm)) event.preventDefault();
    });
  }
  for (const button of within.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = "Copied";
    });
  }
  for (const select of within.querySelectorAll(".tools select")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
}
listenTo(document);

// What changes by itself is fetched again and put in its place; nothing moves that stays the same.
const shown = new Map();
for (const part of document.querySelectorAll("[data-live]")) shown.set(part.id, part.innerHTML);

// Instants in the reader's own time.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
function tellTimes(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    time.title = time.dateTime;
    time.textContent = format.format(new Date(time.dateTime));
  }
}
tellTimes(document);

async function refresh() {
  if (document.hidden) return;
  const answer = await fetch(location.href).catch(() => null);
  if (!answer || !answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const id of shown.keys()) {
    const part = document.getElementById(id);
    const now = fresh.getElementById(id);
    if (!now) continue;
    if (!("live" in now.dataset)) shown.delete(id);
    const isInUse = part.contains(document.activeElement) || part.querySelector("details[open]");
    if (now.innerHTML === shown.get(id) || (isInUse && shown.has(id))) continue;
    if (shown.has(id)) shown.set(id, now.innerHTML);
    part.replaceChildren(...now.childNodes);
    tellTimes(part);
    listenTo(part);
  }
  if (!shown.size) clearInterval(clock);
}
const seconds = [...document.querySelectorAll("[data-live]")].map((part) => Number(part.dataset.live));
const clock = seconds.length ? setInterval(refresh, 1000 * Math.min(...seconds)) : 0;

// Only the scopes that the chosen role has can be chosen.
const role = document.querySelector("select#role");
const groups = document.querySelectorAll(".scopes[data-role]");
if (role && groups.length) {
  const show = () => {
    for (const group of groups) {
      const chosen = group.dataset.role === role.value;
      group.classList.toggle("chosen", chosen);
      for (const box of group.querySelectorAll("input")) box.disabled = !chosen;
    }
  };
  role.addEventListener("change", show);
  show();
}
