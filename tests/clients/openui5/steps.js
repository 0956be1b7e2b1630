// What an application does with ODataModel V4; a step that fails throws.
async (serviceUrl) => {
  const [ODataModel, Filter, FilterOperator, Sorter] = await new Promise((resolve, reject) =>
    sap.ui.require(
      [
        "sap/ui/model/odata/v4/ODataModel", "sap/ui/model/Filter",
        "sap/ui/model/FilterOperator", "sap/ui/model/Sorter",
      ],
      (...modules) => resolve(modules), reject,
    ),
  );
  const expect = (holds, what) => { if (!holds) throw new Error(what); };
  const names = (contexts) => contexts.map((context) => context.getProperty("name"));
  const model = new ODataModel({ serviceUrl, operationMode: "Server", autoExpandSelect: false });
  const bind = (filters, sorters, parameters) =>
    model.bindList("/Clients", undefined, sorters, filters, parameters);

  const annotation = await model.getMetaModel().requestObject("/Clients/$Type");
  expect(annotation === "BusinessPlatform.Client", "metadata");

  const filters = [new Filter("revenue", FilterOperator.GT, 5)];
  const list = bind(filters, [new Sorter("revenue", true)], { $count: true, $expand: "Contacts" });
  const first = names(await list.requestContexts(0, 2));
  expect(first.join() === "Delta_x,O'Neil 50%", `filter and sort: ${first}`);
  const grown = await list.requestContexts(0, 4);
  expect(names(grown).slice(2).join() === "Acme,Zürich 日本", `growing: ${names(grown)}`);
  expect(list.getLength() === 4, "count");
  expect(grown[2].getObject("Contacts").length >= 3, "expand");
  const found = bind([new Filter("name", FilterOperator.Contains, "cme")], [], {});
  expect(names(await found.requestContexts(0, 5)).join() === "Acme", "contains");

  const all = bind([], [new Sorter("id")], {});
  await all.requestContexts(0, 3);
  const made = all.create({ name: "By OpenUI5" });
  await made.created();
  expect(made.getProperty("id") > 0, "create");
  await made.setProperty("notes", "changed");
  const again = await model.bindContext(`/Clients(${made.getProperty("id")})`).requestObject();
  expect(again.notes === "changed", "edit");

  // Somebody else changes it: the tag that the model holds is stale.
  const address = `${serviceUrl}Clients(${made.getProperty("id")})`;
  const headers = { "Content-Type": "application/json" };
  await fetch(address, { method: "PATCH", headers, body: '{"notes":"by another"}' });
  let refused = false;
  await made.setProperty("notes", "lost", "$auto").catch((error) => {
    refused = error.status === 412;
  });
  expect(refused, "a stale tag is refused");
  all.resetChanges().catch(() => {});
  await made.requestRefresh();
  await made.delete();
  const gone = await fetch(address);
  expect(gone.status === 404, "delete");
}
