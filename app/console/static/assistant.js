// The answer as it grows: text is put behind text; at the end the page shows sources and steps.
"use strict";
for (const form of document.querySelectorAll("form.chat")) {
  const wish = document.createElement("input");
  wish.type = "hidden";
  wish.name = "stream";
  wish.value = "1";
  form.append(wish);
  const box = form.querySelector("textarea");
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (box.value.trim()) form.requestSubmit();
    }
  });
}

const growing = document.querySelector("[data-stream]");
if (growing) {
  const source = new EventSource(growing.dataset.stream);
  let text = "";
  source.addEventListener("message.delta", (event) => {
    text += JSON.parse(event.data).text;
    growing.textContent = text;
    growing.scrollIntoView({ block: "nearest" });
  });
  source.addEventListener("message.end", () => {
    source.close();
    location.replace(`${location.pathname}#end`);
    location.reload();
  });
  source.addEventListener("error", () => {
    if (source.readyState === EventSource.CLOSED) location.reload();
  });
}
