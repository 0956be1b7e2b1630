// SAP CAP consuming the service as a remote one: CQL becomes OData.
const assert = require("node:assert/strict");
const cds = require("@sap/cds");

async function main() {
  const model = await cds.load("./srv/external/BusinessPlatform.cds");
  cds.model = cds.linked(model);
  const remote = await cds.connect.to("BusinessPlatform", {
    kind: "odata",
    model: "srv/external/BusinessPlatform",
    csrf: false,
    credentials: {
      url: process.env.SERVICE_ROOT.replace(/\/$/, ""),
      headers: { "X-API-Key": process.env.API_KEY },
    },
  });
  const { Clients, Contacts } = remote.entities;
  const { SELECT, INSERT, UPDATE, DELETE } = cds.ql;

  const [acme] = await remote.run(SELECT.from(Clients).columns("id", "name").where({ name: "Acme" }));
  assert.equal(acme.name, "Acme");
  const sorted = await remote.run(
    SELECT.from(Clients).columns("name").where("revenue >", 5).orderBy("revenue desc").limit(2),
  );
  assert.deepEqual(sorted.map((one) => one.name), ["Delta_x", "O'Neil 50%"]);
  const found = await remote.run(
    SELECT.from(Clients).columns("name").where`contains(name,${"cme"})`,
  );
  assert.deepEqual(found.map((one) => one.name), ["Acme"]);
  const [deep] = await remote.run(
    SELECT.from(Clients)
      .columns((client) => { client.name; client.Contacts((contact) => { contact.lastName; }); })
      .where({ id: acme.id }),
  );
  assert.ok(deep.Contacts.some((one) => one.lastName === "Ana"));
  const related = await remote.run(SELECT.from(Contacts).where({ clientId: acme.id }));
  assert.ok(related.length >= 3);

  await remote.run(INSERT.into(Clients).entries({ name: "By CAP" }));
  const [made] = await remote.run(SELECT.from(Clients).columns("id").where({ name: "By CAP" }));
  await remote.run(UPDATE(Clients, made.id).with({ notes: "changed" }));
  const one = await remote.run(SELECT.one.from(Clients, made.id).columns("notes"));
  assert.equal(one.notes, "changed");
  await remote.run(DELETE.from(Clients, made.id));
  const left = await remote.run(SELECT.from(Clients).columns("id").where({ name: "By CAP" }));
  assert.deepEqual(left, []);
}

main().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); });
