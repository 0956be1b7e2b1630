// o.js with odata-query, unmodified: options named %24filter, $batch.
import assert from "node:assert/strict";
import odata from "odata";
import query from "odata-query";

const buildQuery = query.default ?? query;
const service = odata.o(process.env.SERVICE_ROOT, {
  headers: { "X-API-Key": process.env.API_KEY, "Content-Type": "application/json" },
  batch: {
    endpoint: "$batch",
    boundaryPrefix: "batch_",
    changsetBoundaryPrefix: "changeset_",
    useChangset: true,
    headers: new Headers({ "X-API-Key": process.env.API_KEY, "Content-Type": "multipart/mixed" }),
  },
});

const [acme] = await service.get("Clients").query({ $filter: "name eq 'Acme'" });
assert.equal(acme.status, "Active");
const text = buildQuery({ filter: { revenue: { gt: 500 } }, orderBy: "revenue desc", top: 1 });
const [dearest] = await service.get(`Clients${text}`).query();
assert.equal(dearest.name, "Delta_x");
const shaped = await service.get("Clients").query({ $select: "name", $expand: "Contacts", $top: 1 });
assert.ok("Contacts" in shaped[0]);

const made = await service.post("Clients", { name: "By o.js" }).query();
await service.patch(`Clients(${made.id})`, { notes: "changed" }).query();
assert.equal((await service.get(`Clients(${made.id})`).query()).notes, "changed");
await service.delete(`Clients(${made.id})`).query();
assert.deepEqual(await service.get("Clients").query({ $filter: "name eq 'By o.js'" }), []);
assert.ok((await service.get("Clients/$count").query()) >= 4);

service.get("Clients(1)").get("Contacts");
const answers = await service.batch();
assert.equal(answers.length, 2);
