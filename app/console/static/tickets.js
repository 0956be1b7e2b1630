// A ticket: a canned answer is put in without a new page, drafts are kept, what may help comes by itself.
"use strict";

const box = document.querySelector("textarea#body");

// A draft stays in this browser, by ticket and user, until the answer was taken.
const form = document.querySelector("form[data-draft]");
if (form && box) {
  const place = `draft-${form.dataset.draft}`;
  const sent = `${place}-sent`;
  if (sessionStorage.getItem(sent) && document.querySelector(".notice.good[data-focus]")) {
    localStorage.removeItem(place);
  }
  sessionStorage.removeItem(sent);
  if (!box.value) box.value = localStorage.getItem(place) || "";
  box.addEventListener("input", () => {
    if (box.value) localStorage.setItem(place, box.value);
    else localStorage.removeItem(place);
  });
  form.addEventListener("submit", () => sessionStorage.setItem(sent, "1"));
}

const canned = document.querySelector("select[data-canned]");
if (canned && box) {
  canned.addEventListener("change", () => {
    const text = canned.selectedOptions[0].dataset.text;
    if (!text) return;
    const before = box.value.slice(0, box.selectionStart);
    box.value = before + text + box.value.slice(box.selectionEnd);
    box.dispatchEvent(new Event("input"));
    canned.selectedIndex = 0;
    box.focus();
  });
}

// Searching for what may help takes longer than the page: it follows.
for (const part of document.querySelectorAll("[data-part]")) {
  fetch(part.dataset.part)
    .then((answer) => (answer.ok && !answer.redirected ? answer.text() : null))
    .then((text) => {
      const found = text && new DOMParser().parseFromString(text, "text/html").getElementById(part.id);
      // Whoever has got there already goes on by the link to the page.
      if (found && !part.contains(document.activeElement)) part.replaceChildren(...found.childNodes);
    })
    .catch(() => null)
    .finally(() => part.removeAttribute("data-part"));
}
