// Starts Swagger UI on the document of this service. A file, because the page's policy allows no
// script inside it.
"use strict";

window.addEventListener("load", () => {
  window.ui = SwaggerUIBundle({
    url: document.body.dataset.document,
    dom_id: "#swagger-ui",
    deepLinking: true,
    plugins: [Resolving],
    docExpansion: "none",
    filter: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    // Its list of servers has a heading, and no label.
    onComplete: () => document.getElementById("servers")?.setAttribute("aria-label", "Servers"),
    // No badge: it would ask a server elsewhere.
    validatorUrl: null,
  });
});
