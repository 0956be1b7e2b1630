// Deals are dragged between stages, or moved by Alt and an arrow key: both send the form of the card.
"use strict";

const stages = [...document.querySelectorAll(".stage")];
let dragged = null;

function move(deal, stage) {
  const select = deal.querySelector("select");
  if (!select || ![...select.options].some((option) => option.value === stage)) return;
  select.value = stage;
  select.form.requestSubmit();
}

for (const deal of document.querySelectorAll(".deal[draggable]")) {
  deal.tabIndex = 0;
  deal.addEventListener("dragstart", (event) => {
    dragged = deal;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", deal.id);
  });
  deal.addEventListener("dragend", () => {
    dragged = null;
    for (const stage of stages) stage.classList.remove("over");
  });
  deal.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!event.altKey || !step) return;
    event.preventDefault();
    const next = stages[stages.indexOf(deal.closest(".stage")) + step];
    if (next) move(deal, next.dataset.stage);
  });
}

for (const stage of stages) {
  stage.addEventListener("dragover", (event) => {
    if (!dragged || dragged.closest(".stage") === stage) return;
    event.preventDefault();
    stage.classList.add("over");
  });
  stage.addEventListener("dragleave", (event) => {
    if (!stage.contains(event.relatedTarget)) stage.classList.remove("over");
  });
  stage.addEventListener("drop", (event) => {
    event.preventDefault();
    if (dragged) move(dragged, stage.dataset.stage);
  });
}

// The deal that was moved keeps the focus, so that the keyboard goes on from there.
const target = location.hash.startsWith("#deal-") && document.getElementById(location.hash.slice(1));
if (target) target.focus();
