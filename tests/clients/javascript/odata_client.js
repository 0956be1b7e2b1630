// @odata/client, unmodified: multipart $batch, no metadata.
import assert from "node:assert/strict";
import { OData } from "@odata/client";

const client = OData.New4({
  serviceEndpoint: process.env.SERVICE_ROOT,
  commonHeaders: { "X-API-Key": process.env.API_KEY },
});
const clients = client.getEntitySet("Clients");

const filter = client.newFilter().property("name").eq("Acme");
const [acme] = await clients.query(filter);
assert.equal(acme.status, "Active");
assert.ok((await clients.count()) >= 4);
const options = client.newOptions().top(1).orderby("name", "asc").select("name").expand("Contacts");
const [first] = await clients.query(options);
assert.equal(first.name, "Acme");
assert.ok(first.Contacts.length >= 3);

const made = await clients.create({ name: "By @odata/client" });
await clients.update(made.id, { notes: "changed" });
assert.equal((await clients.retrieve(made.id)).notes, "changed");

const answers = await client.execBatchRequests([
  client.newBatchRequest({ collection: "Clients", params: client.newOptions().top(1) }),
  client.newBatchRequest({
    collection: "Contacts",
    method: "POST",
    entity: { lastName: "Batched", clientId: made.id },
  }),
]);
const [listed, added] = await Promise.all(answers.map((answer) => answer.json()));
assert.equal(listed.value.length, 1);
assert.equal(added.clientId, made.id);
await client.getEntitySet("Contacts").delete(added.id);
await clients.delete(made.id);
assert.deepEqual(await clients.find({ name: "By @odata/client" }), []);
