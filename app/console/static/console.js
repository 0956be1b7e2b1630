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

for (const button of document.querySelectorAll("[data-confirm]")) {
  button.addEventListener("click", (event) => {
    if (!window.confirm(button.dataset.confirm)) event.preventDefault();
  });
}

// Instants in the reader's own time.
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
for (const time of document.querySelectorAll("time[datetime]")) {
  time.title = time.dateTime;
  time.textContent = format.format(new Date(time.dateTime));
}

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

for (const select of document.querySelectorAll(".tools select")) {
  select.addEventListener("change", () => select.form.requestSubmit());
}
