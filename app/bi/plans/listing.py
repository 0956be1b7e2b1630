"""Records as a list: the query of them, or of the first of each group."""

from __future__ import annotations

from collections.abc import Sequence

from app.bi.plans.columns import Column, Compiled, group_name
from app.bi.plans.filtering import all_of, condition_text, steps_of
from app.bi.plans.plan import Plan
from app.bi.query import Query
from app.bi.words.speech import capital
from app.container.model import container
from app.odata.model import edm


def listed(plan: Plan) -> Compiled:
    entity = plan.entity
    wanted = list(dict.fromkeys([*entity.columns, *plan.extra_columns]))
    if plan.date and plan.period is not None and plan.date not in wanted:
        wanted.append(plan.date)
    ordered = (plan.order or "").removesuffix(" desc")
    if ordered not in wanted and entity.join is None and entity.prop(ordered) is not None:
        wanted.append(ordered)  # "by number of employees"
    options: dict[str, str] = {}
    where = condition_text(plan)
    if entity.join is not None:
        key = f"{entity.join.rpartition(' ')[2]}/id"  # keeps rows apart that are alike
        rate = ["exchangeRate"] if " mul exchangeRate" in ordered else []  # for the order
        rows = f"groupby(({','.join([key, *wanted, *rate])}))"
        options["apply"] = "/".join([*steps_of(entity, where), rows])
    elif where:
        options["filter"] = where
    if plan.within:
        options["apply"] = _first_of_each(plan, options.pop("filter", None))
        groups = [group_name(dimension) for dimension in plan.within]
        options["orderby"] = ",".join([*groups, f"{plan.order},id"])
    elif plan.order:
        # The last one of a day is the one that was made last.
        tie = "id desc" if plan.limit == 1 and plan.order == f"{plan.date} desc" else "id"
        options["orderby"] = f"{plan.order},{tie}" if entity.join is None else plan.order
    if plan.limit is not None and not plan.within:
        options["top"] = str(plan.limit)
    options["count"] = "true"
    if entity.join is None:
        parts = {name for name, prop in entity.type.properties.items()
                 if not isinstance(prop.type, edm.PrimitiveType | edm.EnumType)}  # fmt: skip
        own = [path for path in wanted if "/" not in path or path.partition("/")[0] in parts]
        options["select"] = ",".join(["id", *own])
        if inside := [path for path in wanted if path not in own]:
            options["expand"] = _expanded(inside, entity.type)
    labels = {path: capital(plan.say.named(_label(path))) for path in wanted}
    columns = tuple(Column(path, labels[path], _type(plan, path)) for path in wanted)
    currency = next((path for path in wanted if path.endswith("currency")), None)
    return Compiled(Query(entity.set, options), columns, (), currency)


def _expanded(paths: Sequence[str], source: edm.EntityType) -> str:
    """What is selected inside other records: ``Client/Owner/displayName`` inside one inside one.

    Args:
        source: whose navigation properties the paths begin with.
    """
    inside: dict[str, list[str]] = {}
    for path in paths:
        navigation, _, part = path.partition("/")
        inside.setdefault(navigation, []).append(part)
    expansions = []
    for navigation, parts in inside.items():
        target = container().types[source.navigation[navigation].target]
        far = [part for part in parts if part.partition("/")[0] in target.navigation]
        own = [part for part in parts if part not in far] or ["id"]
        more = f";$expand={_expanded(far, target)}" if far else ""
        expansions.append(f"{navigation}($select={','.join(own)}{more})")
    return ",".join(expansions)


def _first_of_each(plan: Plan, where: str | None) -> str:
    """The first records of each group, as ``$apply``."""
    path, down = (plan.order or "").removesuffix(" desc"), (plan.order or "").endswith(" desc")
    deep = {each: f"{each.path} as {group_name(each)}"
            for each in plan.within if each.path.count("/") > 1}  # fmt: skip
    keys = [group_name(each) if each in deep else each.key or each.path for each in plan.within]
    steps = steps_of(plan.entity, all_of([where, f"{path} ne null"]), deep.values())
    kind = "topcount" if down else "bottomcount"
    return "/".join([*steps, f"groupby(({','.join(keys)}),{kind}({plan.limit},{path}))"])


def _label(path: str) -> str:
    words = "".join(f" {c.lower()}" if c.isupper() else c for c in path.replace("/", " ")).split()
    if words[-2:] == ["display", "name"]:
        return words[-3].capitalize()
    if words[:1] == ["client"] and words[-1] == "name":
        return "Client"
    return " ".join(words).capitalize()


def _type(plan: Plan, path: str) -> str:
    entity = plan.entity
    if path == entity.amount or (entity.currency_of(path) and entity.is_number(path)):
        return "money" if entity.currency_of(path) else "number"
    if entity.is_date(path) and path in ("payment/date",):
        return "date"
    prop = entity.prop(path)
    name = getattr(getattr(prop, "type", None), "name", "Edm.String")
    return {
        "Edm.Date": "date", "Edm.DateTimeOffset": "instant", "Edm.Boolean": "boolean",
        "Edm.Int32": "number", "Edm.Int64": "number", "Edm.Decimal": "number",
    }.get(name, "text")  # fmt: skip
