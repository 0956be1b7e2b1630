// The pages work without this; it spares a click here and there.
"use strict";

// What scripts say is in the language of the page; days and numbers are as that language, and the
// region of the reader, writes them.
const words = document.documentElement.dataset;
const language = document.documentElement.lang;
const locale = navigator.languages.find((each) => each.split("-")[0] === language) || language;
document.documentElement.classList.add("script");
// Enter sends a form by its first button, shown or not.
for (const button of document.querySelectorAll("button.only-without-script")) button.remove();

document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });

const menu = document.querySelector(".menu-button");
if (menu) {
  menu.addEventListener("click", () => {
    const open = document.getElementById("menu").classList.toggle("open");
    menu.setAttribute("aria-expanded", String(open));
  });
}

// What was begun and kept in this browser is nobody else's.
for (const form of document.querySelectorAll('form[action$="/sign-out"]')) {
  form.addEventListener("submit", () => {
    for (const name of Object.keys(localStorage)) if (name.startsWith("draft-")) localStorage.removeItem(name);
  });
}

// A form that was sent and taken needs to be kept no longer.
const sentForm = sessionStorage.getItem("sent-form");
if (sentForm && document.querySelector(".notice.good[data-focus]")) localStorage.removeItem(sentForm);
sessionStorage.removeItem("sent-form");

function listenTo(within) {
  for (const button of within.querySelectorAll("[data-confirm]")) {
    button.addEventListener("click", (event) => {
      if (!window.confirm(button.dataset.confirm)) event.preventDefault();
    });
  }
  for (const button of within.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.parentElement.querySelector("code").textContent);
      button.textContent = words.copied;
    });
  }
  for (const select of within.querySelectorAll(".tools select:not([data-plain])")) {
    select.addEventListener("change", () => select.form.requestSubmit());
  }
}
listenTo(document);

// A day typed in part would be sent as none: all that are so are told at their fields, in the words of the page.
document.addEventListener("invalid", (event) => {
  const field = event.target;
  event.preventDefault();
  for (let part = field.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  if (field.form.querySelector("input:invalid") === field) field.focus();
  if (field.hasAttribute("aria-invalid")) return;
  const told = Object.assign(document.createElement("p"), { className: "wrong", id: `${field.id}-p`, textContent: words.incomplete });
  const before = field.getAttribute("aria-describedby");
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", [told.id, before].filter(Boolean).join(" "));
  field.after(told);
  field.addEventListener("input", () => {
    told.remove();
    field.removeAttribute("aria-invalid");
    if (before) field.setAttribute("aria-describedby", before);
    else field.removeAttribute("aria-describedby");
  }, { once: true });
}, true);

// What was said comes first for those who listen or use the keyboard.
function tellSaid(within) {
  const said = within.querySelector("[data-focus]");
  if (said) said.focus({ preventScroll: true });
  return said;
}
tellSaid(document);

// Escape closes what was opened over the page, and goes back to where it was opened.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const step = [...document.querySelectorAll("details.step[open]")].pop(); // the innermost
  const side = document.querySelector(".side.open");
  if (step) {
    step.open = false;
    step.querySelector("summary").focus();
  } else if (side) {
    menu.click();
    menu.focus();
  }
});
for (const step of document.querySelectorAll("details.step")) {
  step.addEventListener("toggle", () => {
    if (!step.open) return;
    for (const other of document.querySelectorAll("details.step[open]")) if (!other.contains(step) && !step.contains(other)) other.open = false;
    const card = step.querySelector(".card");
    card.classList.remove("flipped");
    card.classList.toggle("flipped", card.getBoundingClientRect().right > document.documentElement.clientWidth);
    step.querySelector("input:not([type=hidden]), select, textarea")?.focus();
  });
}

// What changes by itself is fetched again and put in its place; nothing moves that stays the same.
const shown = new Map();
for (const part of document.querySelectorAll("[data-live]")) shown.set(part.id, part.innerHTML);

// Instants in the reader's own time; days and numbers as the reader's language writes them.
const days = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" });
const instants = [{ dateStyle: "medium" }, { timeStyle: "short" }].map((style) => new Intl.DateTimeFormat(locale, style));
const DAY = /^\d{4}-\d\d-\d\d$/;
function tellTimes(within) {
  for (const time of within.querySelectorAll("time[datetime]")) {
    const isDay = DAY.test(time.dateTime);
    if (!isDay) time.title = time.dateTime;
    // A line breaks between day and time only.
    time.textContent = (isDay ? [days] : instants).map((part) => part.format(new Date(time.dateTime)).replace(/\s/g, "\u00a0")).join(", ");
  }
  // Where it is known how the reader writes numbers, the page is written so already.
  if (document.documentElement.dataset.numbers) return;
  for (const number of within.querySelectorAll("data[value]")) {
    const digits = (number.value.split(".")[1] || "").length;
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    number.textContent = new Intl.NumberFormat(locale, options).format(number.value);
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

// A file on its way says how far it is; the answer takes the place of the page, or of one part of it.
for (const form of document.querySelectorAll("form[data-progress]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(form);
    if (event.submitter && event.submitter.name) data.append(event.submitter.name, event.submitter.value);
    const bar = document.createElement("progress");
    bar.max = 1;
    bar.setAttribute("aria-label", words.upload);
    form.append(bar);
    for (const button of form.querySelectorAll("button")) button.disabled = true;
    const request = new XMLHttpRequest();
    request.upload.addEventListener("progress", (sent) => {
      if (sent.lengthComputable) bar.value = sent.loaded / sent.total;
    });
    request.addEventListener("loadend", () => {
      bar.remove();
      for (const button of form.querySelectorAll("button")) button.disabled = false;
      const fresh = new DOMParser().parseFromString(request.responseText || "", "text/html");
      const part = document.getElementById(form.dataset.progress || "main");
      const now = fresh.getElementById(part.id);
      const isElsewhere = request.responseURL && request.responseURL !== new URL(form.action).href;
      if (isElsewhere || !now) location.assign(request.responseURL || location.href);
      else {
        part.replaceChildren(...now.childNodes);
        tellTimes(part);
        listenTo(part);
        (tellSaid(part) || part.querySelector("[role=status]"))?.scrollIntoView({ block: "nearest" });
      }
    });
    request.open("POST", form.action);
    request.send(data);
  });
}

// Records chosen in a list: all of a page at once, how many there are, and a range with the shift key.
const picking = document.querySelector("form[data-picking]");
if (picking) {
  const whole = picking.querySelector("[data-pick-all]");
  const boxes = [...picking.querySelectorAll("input[name=key]")];
  let latest = null;
  const tell = () => {
    const count = boxes.filter((box) => box.checked).length;
    whole.checked = count === boxes.length;
    whole.indeterminate = count > 0 && !whole.checked;
    picking.querySelector(".picked").open = count > 0 || picking.elements.all.checked;
    picking.querySelector("[data-picked]").textContent = count ? words.chosen.replace("#", count) : "";
  };
  whole.addEventListener("change", () => {
    for (const box of boxes) box.checked = whole.checked;
    tell();
  });
  picking.addEventListener("click", (event) => {
    const at = boxes.indexOf(event.target);
    if (at < 0) return;
    if (event.shiftKey && latest !== null) {
      for (const box of boxes.slice(Math.min(at, latest), Math.max(at, latest) + 1)) box.checked = boxes[at].checked;
    }
    latest = at;
    tell();
  });
  tell();
}
