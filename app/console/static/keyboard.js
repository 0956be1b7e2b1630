// Keys: rows and actions of the page, and a palette over records, pages and actions. "?" tells all of them.

const palette = document.getElementById("palette");
const found = palette.querySelector("[role=listbox]");
const wanted = palette.querySelector("input");
const FIELDS = "input:not([type=checkbox], [type=radio]), select, textarea, dialog[open]";
let options = [];
let at = 0;
let pause = 0;

// What the page itself offers, by the words that stand on it: its menu's actions too, not what a step asks for.
function here() {
  const actions = [...document.querySelectorAll("main .head :is(a.button, button, summary), main [data-name]")];
  const pages = [...document.querySelectorAll("#menu a")];
  const make = (kind) => (element) => ({ name: element.dataset.name || element.textContent.trim(), kind, element });
  const offered = (each) => !each.disabled && !each.matches("details.menu > summary") &&
    !each.closest("details.step:not(.menu) form") && (each.checkVisibility() || each.closest("details.menu"));
  return [
    ...actions.filter(offered).map(make(found.dataset.action)),
    ...pages.map(make(found.dataset.page)),
  ].filter((each) => each.name);
}

function show(records) {
  const text = wanted.value.trim().toLowerCase();
  options = [...here().filter((each) => each.name.toLowerCase().includes(text)), ...records];
  found.replaceChildren(
    ...options.map((each, index) => {
      const option = document.createElement("li");
      option.id = `palette-${index}`;
      option.setAttribute("role", "option");
      const name = document.createElement("span");
      name.dir = "auto";
      name.textContent = each.name;
      const kind = document.createElement("small");
      kind.textContent = each.kind;
      option.append(name, " ", kind);
      option.addEventListener("click", () => choose(each));
      return option;
    }),
  );
  move(0);
}

function move(to) {
  at = Math.min(Math.max(to, 0), Math.max(options.length - 1, 0));
  [...found.children].forEach((option, index) => {
    option.setAttribute("aria-selected", String(index === at));
    if (index === at) option.scrollIntoView({ block: "nearest" });
  });
  if (options.length) wanted.setAttribute("aria-activedescendant", `palette-${at}`);
  else wanted.removeAttribute("aria-activedescendant");
}

async function find() {
  const text = wanted.value.trim();
  const answer = await fetch(`${wanted.dataset.palette}?q=${encodeURIComponent(text)}`).catch(() => null);
  if (!answer || !answer.ok || answer.redirected || wanted.value.trim() !== text) return;
  const chosen = at;
  show((await answer.json()).items);
  move(chosen);
}

function choose(option) {
  if (!option) return;
  palette.close();
  if (option.link) location.assign(option.link);
  else {
    const menu = option.element.closest("details.menu");
    if (menu) menu.open = true;
    option.element.click();
    if (option.element.matches("summary")) option.element.focus();
  }
}

function openPalette() {
  if (palette.open) return;
  wanted.value = "";
  palette.showModal();
  show([]);
}

async function openKeys() {
  const help = document.getElementById("keys");
  if (help.open) return;
  if (!help.firstChild) {
    const answer = await fetch(help.dataset.from).catch(() => null);
    if (!answer || !answer.ok || answer.redirected) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    help.append(...page.getElementById("main").childNodes);
    help.tabIndex = -1;
  }
  help.showModal();
  help.focus();
}

function moveRow(step) {
  const rows = [...document.querySelectorAll("main table.list tbody tr")].filter((row) => row.querySelector("a[href]"));
  if (!rows.length) return;
  const now = rows.indexOf(document.activeElement.closest("tr"));
  const row = rows[Math.min(Math.max(now + step, 0), rows.length - 1)];
  row.querySelector("a[href]").focus();
  row.scrollIntoView({ block: "nearest" });
}

wanted.addEventListener("input", () => {
  show([]);
  clearTimeout(pause);
  if (wanted.value.trim()) pause = setTimeout(find, 200);
});
wanted.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") move(at + 1);
  else if (event.key === "ArrowUp") move(at - 1);
  else if (event.key === "Enter") choose(options[at]);
  else return;
  event.preventDefault();
});
palette.addEventListener("click", (event) => {
  if (event.target === palette) palette.close();
});

const KEYS = {
  "/": openPalette,
  "?": openKeys,
  j: () => moveRow(1),
  k: () => moveRow(-1),
};
document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.altKey || event.isComposing) return;
  if (event.ctrlKey || event.metaKey) {
    if (event.key.toLowerCase() !== "k" || event.shiftKey) return;
    openPalette();
  } else if (event.target.closest(FIELDS)) return;
  else if (KEYS[event.key]) KEYS[event.key]();
  else {
    const offered = event.key.length === 1 && document.querySelector(`[data-shortcut="${CSS.escape(event.key)}"]`);
    if (!offered) return;
    offered.click();
  }
  event.preventDefault();
});
