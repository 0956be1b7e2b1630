"""What the XML schemas of OASIS (edmx.xsd, edm.xsd 4.01) allow, as far as our metadata goes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from xml.etree import ElementTree

EDMX = "{http://docs.oasis-open.org/odata/ns/edmx}"
EDM = "{http://docs.oasis-open.org/odata/ns/edm}"

IDENTIFIER = r"[^\W\d]\w{0,127}"
QUALIFIED = rf"{IDENTIFIER}(\.{IDENTIFIER})+"
PATH = rf"{IDENTIFIER}([./]{IDENTIFIER})*"
TYPE = rf"{QUALIFIED}|Collection\({QUALIFIED}\)"
VALUES = {
    "String": r"(?s).*", "Bool": "true|false", "Int": r"-?\d+", "Decimal": r"-?\d+(\.\d+)?",
    "EnumMember": rf"{PATH}( {PATH})*", "Path": ".+", "PropertyPath": PATH,
    "NavigationPropertyPath": PATH,
}  # fmt: skip
FACETS = {"MaxLength": r"[1-9]\d*", "Precision": r"\d+", "Scale": r"\d+"}
BOOLEAN = "true|false"
DERIVABLE = {"Name": IDENTIFIER, "BaseType": QUALIFIED, "Abstract": BOOLEAN, "OpenType": BOOLEAN}
EXPRESSIONS = (*VALUES, "Collection", "Record")


@dataclass(frozen=True)
class Rule:
    """The attributes of an element (the first ``required`` of them must be there), its children.

    ``order`` is a regular expression over the names of all children, each followed by a blank.
    """

    attributes: Mapping[str, str]
    required: int
    children: tuple[str, ...] = ()
    order: str = ".*"


RULES = {
    f"{EDMX}Edmx": Rule({"Version": r"4\.0|4\.01"}, 1, ("Reference", "DataServices"),
                        "(Reference )*DataServices "),
    f"{EDMX}Reference": Rule({"Uri": "https://.+"}, 1, ("Include",), "(Include )+"),
    f"{EDMX}Include": Rule({"Namespace": QUALIFIED, "Alias": IDENTIFIER}, 1),
    f"{EDMX}DataServices": Rule({}, 0, ("Schema",), "(Schema )+"),
    f"{EDM}Schema": Rule({"Namespace": rf"{IDENTIFIER}(\.{IDENTIFIER})*"}, 1,
                         ("EnumType", "ComplexType", "EntityType", "Action", "Function",
                          "EntityContainer", "Annotation")),
    f"{EDM}EnumType": Rule({"Name": IDENTIFIER, "UnderlyingType": QUALIFIED, "IsFlags": BOOLEAN},
                           1, ("Member", "Annotation"), "(Annotation )*(Member )+"),
    f"{EDM}Member": Rule({"Name": IDENTIFIER, "Value": r"-?\d+"}, 1),
    f"{EDM}ComplexType": Rule(DERIVABLE, 1, ("Property", "NavigationProperty", "Annotation")),
    f"{EDM}EntityType": Rule({**DERIVABLE, "HasStream": BOOLEAN}, 1,
                             ("Key", "Property", "NavigationProperty", "Annotation"),
                             "(?!.*Key .*Key ).*"),
    f"{EDM}Key": Rule({}, 0, ("PropertyRef",), "(PropertyRef )+"),
    f"{EDM}PropertyRef": Rule({"Name": PATH}, 1),
    f"{EDM}Property": Rule({"Name": IDENTIFIER, "Type": TYPE, "Nullable": BOOLEAN, **FACETS,
                            "DefaultValue": "(?s).*"}, 2, ("Annotation",)),
    f"{EDM}NavigationProperty": Rule({"Name": IDENTIFIER, "Type": TYPE, "Nullable": BOOLEAN,
                                      "Partner": PATH, "ContainsTarget": BOOLEAN}, 2,
                                     ("ReferentialConstraint", "Annotation")),
    f"{EDM}ReferentialConstraint": Rule({"Property": PATH, "ReferencedProperty": PATH}, 2),
    f"{EDM}Action": Rule({"Name": IDENTIFIER, "IsBound": BOOLEAN, "EntitySetPath": PATH}, 1,
                         ("Parameter", "ReturnType", "Annotation"),
                         "(?!.*ReturnType .*ReturnType ).*"),
    f"{EDM}Function": Rule({"Name": IDENTIFIER, "IsBound": BOOLEAN, "IsComposable": BOOLEAN,
                            "EntitySetPath": PATH}, 1,
                           ("Parameter", "ReturnType", "Annotation"),
                           "(?=.*ReturnType )(?!.*ReturnType .*ReturnType ).*"),
    f"{EDM}Parameter": Rule({"Name": IDENTIFIER, "Type": TYPE, "Nullable": BOOLEAN}, 2,
                            ("Annotation",)),
    f"{EDM}ReturnType": Rule({"Type": TYPE, "Nullable": BOOLEAN}, 1),
    f"{EDM}EntityContainer": Rule({"Name": IDENTIFIER}, 1,
                                  ("EntitySet", "Singleton", "ActionImport", "FunctionImport",
                                   "Annotation"), "(?=.*[a-z] ).*"),
    f"{EDM}EntitySet": Rule({"Name": IDENTIFIER, "EntityType": QUALIFIED}, 2,
                            ("NavigationPropertyBinding", "Annotation")),
    f"{EDM}Singleton": Rule({"Name": IDENTIFIER, "Type": QUALIFIED}, 2,
                            ("NavigationPropertyBinding", "Annotation")),
    f"{EDM}NavigationPropertyBinding": Rule({"Path": PATH, "Target": PATH}, 2),
    f"{EDM}ActionImport": Rule({"Name": IDENTIFIER, "Action": QUALIFIED, "EntitySet": PATH}, 2),
    f"{EDM}FunctionImport": Rule({"Name": IDENTIFIER, "Function": QUALIFIED, "EntitySet": PATH,
                                  "IncludeInServiceDocument": BOOLEAN}, 2),
    f"{EDM}Annotation": Rule({"Term": QUALIFIED, "Qualifier": IDENTIFIER, **VALUES}, 1,
                             (*EXPRESSIONS, "Annotation"), r"(?!Annotation)(\w+ )?(Annotation )*"
                             r"|(Annotation )*"),
    f"{EDM}Collection": Rule({}, 0, EXPRESSIONS),
    f"{EDM}Record": Rule({}, 0, ("PropertyValue",)),
    f"{EDM}PropertyValue": Rule({"Property": IDENTIFIER, **VALUES}, 1, EXPRESSIONS, r"(\w+ )?"),
    **{f"{EDM}{name}": Rule({}, 0) for name in VALUES},
}  # fmt: skip


def problems(element: ElementTree.Element, place: str = "") -> list[str]:
    """Every place where a document breaks a rule."""
    name = element.tag.rpartition("}")[2]
    place = f"{place}/{name}[{element.get('Name', element.get('Term', ''))}]"
    rule = RULES.get(element.tag)
    if rule is None:
        return [f"{place}: unknown element"]
    found = [
        f"{place}: attribute {attribute} = {value!r}"
        for attribute, value in element.attrib.items()
        if not re.fullmatch(rule.attributes.get(attribute, "(?!)"), value)
    ]
    for attribute in list(rule.attributes)[: rule.required]:
        if attribute not in element.attrib:
            found.append(f"{place}: without {attribute}")
    if name in ("Annotation", "PropertyValue") and (
        len(VALUES.keys() & element.attrib.keys())
        + sum(child.tag != f"{EDM}Annotation" for child in element)
        != 1
    ):
        found.append(f"{place}: not exactly one value")
    children = [child.tag.rpartition("}")[2] for child in element]
    found += [f"{place}: child {child}" for child in children if child not in rule.children]
    if not re.fullmatch(rule.order, "".join(f"{child} " for child in children)):
        found.append(f"{place}: order of {children}")
    for child in element:
        found += problems(child, place)
    return found
