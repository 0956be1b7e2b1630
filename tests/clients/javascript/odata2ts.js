// odata2ts, unmodified: a typed client generated from $metadata (see generate in package.json).
import assert from "node:assert/strict";
import { FetchClient } from "@odata2ts/http-client-fetch";
import generated from "./generated/BusinessPlatformService.js";

const http = new FetchClient({ headers: { "X-API-Key": process.env.API_KEY } });
const { BusinessPlatformService } = generated;
const root = process.env.SERVICE_ROOT.replace(/\/$/, "");
const service = new BusinessPlatformService(http, root);

const found = await service
  .Clients()
  .query((builder, client) =>
    builder.select("id", "name").filter(client.name.eq("Acme")).expanding("Contacts", (nested) =>
      nested.select("lastName"),
    ),
  );
const [acme] = found.data.value;
assert.equal(acme.name, "Acme");
const sorted = await service
  .Clients()
  .query((builder, client) => builder.orderBy(client.revenue.desc()).top(1).count());
assert.equal(sorted.data.value[0].name, "Delta_x");
assert.ok(sorted.data["@odata.count"] >= 4);

const made = await service.Clients().create({ name: "By odata2ts" });
const one = service.Clients(made.data.id);
await one.patch({ notes: "changed" });
assert.equal((await one.query()).data.notes, "changed");
await one.delete();
