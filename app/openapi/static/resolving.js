// What an operation refers to, put in its place: schemas two deep. The resolver that Swagger UI
// brings follows every way through the records that lead to each other, for half a minute.
"use strict";

const DEEPEST = 2;
const SCHEMAS = "#/components/schemas/";

// What a reference such as "#/components/schemas/client.Client" names; undefined: nothing.
function target(document, reference) {
  const parts = reference.slice(2).split("/");
  const names = parts.map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
  return names.reduce((found, name) => found?.[name], document);
}

// `value` with its references replaced. `within` are those that it is in, `depth` how many records.
function resolved(document, value, within, depth) {
  if (Array.isArray(value)) {
    return value.map((item) => resolved(document, item, within, depth));
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  const reference = value.$ref;
  if (typeof reference === "string" && reference.startsWith("#/")) {
    const found = target(document, reference);
    const isRecord = reference.startsWith(SCHEMAS) && found?.properties !== undefined;
    if (found === undefined || within.includes(reference) || (isRecord && depth === DEEPEST)) {
      return { type: "object", title: reference.split("/").pop() };
    }
    return resolved(document, found, [...within, reference], depth + Number(isRecord));
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, resolved(document, item, within, depth)]),
  );
}

// The plugin of Swagger UI that resolves so.
function Resolving() {
  const resolveSubtree = async (document, path) => {
    let found = path.reduce((value, name) => value?.[name], document);
    const shared = path[0] === "paths" && path.length === 3 && document.paths[path[1]]?.parameters;
    if (shared && found) {
      found = { ...found, parameters: [...shared, ...(found.parameters ?? [])] };
    }
    return { spec: resolved(document, found, [], 0), errors: [] };
  };
  return { fn: { resolveSubtree } };
}
