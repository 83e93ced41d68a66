"""What generated logs talk about: words, and a pool of parameters with values that fit and values that do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

#: Makes the JSON text of one value.
Maker = Callable[[Random], str]

_WORD_LINES = (
    "account adjust agree amount annual answer approve archive area arrive assign attach average balance batch"
    " before begin belong border branch bring budget build cancel careful carrier change charge check choose clear"
    " client close collect column common compare complete confirm connect consider contact contract correct"
    " country credit current customer daily damage deliver demand deposit describe detail direct discount dispatch"
    " document double due early empty ensure enter estimate exact except exchange expect expire export extend"
    " factor figure final follow foreign forward freight future gather general gross group handle harbour height"
    " holiday import include increase inform inside invoice issue item journal keep label later ledger length"
    " level limit list local machine manage market matter measure member message middle minute monthly motion"
    " narrow nearest notice number object offer office order origin outside owner package paper partial payment"
    " pending period permit person phone place plan point portion prefer prepare present price primary print"
    " process product profile prompt protect provide purchase quality quarter quick quote range ready reason"
    " receipt receive recent record reduce refund region register reject release remain remark renew repair repeat"
    " replace reply report request reserve result return review route sample schedule search season second section"
    " select send serial service settle shelf ship shorten signal single source spare special stage standard state"
    " stock store subject submit supply surcharge survey table target tariff tender term ticket total track trade"
    " transfer travel treat trial truck update urgent usual vacant valid value vendor verify version visit volume"
    " warehouse warn weekly weight window within yard zone"
)
WORDS = tuple(_WORD_LINES.split())

VERBS = ("search", "get", "list", "create", "update", "cancel", "assign", "export", "estimate", "transfer", "notify")
NOUNS = ("orders", "invoices", "shipments", "tickets", "customers", "contracts", "products", "payments", "vehicles")
MODELS = ("gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-4.1", "gpt-4.1-mini", "o4-mini")

CURRENCIES = ("EUR", "USD", "GBP", "CHF", "SEK", "NOK", "JPY")
STATUSES = ("open", "in_review", "approved", "rejected", "closed")
COUNTRIES = ("AT", "BE", "CH", "DE", "DK", "ES", "FI", "FR", "IT", "NL", "NO", "PL", "PT", "SE")


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a tool: its name, its schema, JSON text that fits, and JSON text that breaks the schema."""

    name: str
    schema: dict[str, Any]
    fitting: Maker
    breaking: str


def sentence(rng: Random, words: int) -> str:
    """So many words with a capital and a full stop."""
    return " ".join(rng.choices(WORDS, k=words)).capitalize() + "."


def prose(rng: Random, size: int) -> str:
    """Sentences of about ``size`` characters."""
    parts: list[str] = []
    length = 0
    while length < size:
        parts.append(sentence(rng, rng.randrange(6, 18)))
        length += len(parts[-1]) + 1
    return " ".join(parts)


def _day(rng: Random) -> str:
    return f'"2026-{rng.randrange(1, 13):02d}-{rng.randrange(1, 29):02d}"'


def _words(rng: Random) -> str:
    return '"' + " ".join(rng.choices(WORDS, k=rng.randrange(2, 6))) + '"'


def _lines(rng: Random) -> str:
    return ",".join(
        f'{{"sku":"{rng.choice(("AR", "BS", "CT"))}-{rng.randrange(10000)}",'
        f'"quantity":{rng.randrange(1, 40)},"unit_price":{rng.randrange(100, 90000) / 100}}}'
        for _ in range(rng.randrange(1, 5))
    ).join("[]")


def _address(rng: Random) -> str:
    street = f"{rng.choice(WORDS).capitalize()} Street {rng.randrange(1, 200)}"
    return (
        f'{{"street":"{street}","postcode":"{rng.randrange(10000, 99999)}",'
        f'"city":"{rng.choice(WORDS).capitalize()}","country":"{rng.choice(COUNTRIES)}"}}'
    )


def _filters(rng: Random) -> str:
    return ",".join(
        f'{{"field":"{rng.choice(("status", "amount", "owner"))}","op":"{rng.choice(("eq", "gt", "lt"))}",'
        f'"value":{rng.choice((str(rng.randrange(10**6)), _words(rng)))}}}'
        for _ in range(rng.randrange(1, 4))
    ).join("[]")


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _choice(values: tuple[str, ...]) -> Maker:
    return lambda rng: f'"{rng.choice(values)}"'


def _number(low: int, high: int) -> Maker:
    return lambda rng: str(rng.randrange(low, high))


_TEXT: dict[str, Any] = {"type": "string"}
_LINE_ITEM = _object(
    {
        "sku": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"},
        "quantity": {"type": "integer", "minimum": 1},
        "unit_price": {"type": "number", "exclusiveMinimum": 0},
    }
)
_ADDRESS = _object({"street": _TEXT, "postcode": _TEXT, "city": _TEXT, "country": {"enum": list(COUNTRIES)}})
_FILTER = _object(
    {"field": _TEXT, "op": {"type": "string", "enum": ["eq", "gt", "lt"]}, "value": {"type": ["string", "integer"]}}
)

PARAMETERS: tuple[Parameter, ...] = (
    Parameter("query", {"type": "string", "minLength": 1}, _words, "7"),
    Parameter("limit", {"type": "integer", "minimum": 1, "maximum": 500}, _number(1, 500), '"20"'),
    Parameter("offset", {"type": "integer", "minimum": 0}, _number(0, 5000), "-1"),
    Parameter(
        "customer_id",
        {"type": "string", "pattern": "^C-[0-9]{6}$"},
        lambda rng: f'"C-{rng.randrange(10**6):06d}"',
        '"the usual one"',
    ),
    Parameter("status", {"type": "string", "enum": list(STATUSES)}, _choice(STATUSES), '"Approved"'),
    Parameter("currency", {"type": "string", "enum": list(CURRENCIES)}, _choice(CURRENCIES), '"euro"'),
    Parameter("country", {"type": "string", "enum": list(COUNTRIES)}, _choice(COUNTRIES), '"Austria"'),
    Parameter("day", {"type": "string", "minLength": 10, "maxLength": 10}, _day, '"next Tuesday or later"'),
    Parameter("until", {"type": ["string", "null"]}, lambda rng: rng.choice(("null", _day(rng))), "20260501"),
    Parameter("amount", {"type": "number", "minimum": 0}, lambda rng: str(rng.randrange(10**7) / 100), '"1,299.00"'),
    Parameter("dry_run", {"type": "boolean"}, lambda rng: rng.choice(("true", "false")), '"yes"'),
    Parameter("note", {"type": ["string", "null"], "maxLength": 400}, _words, '["urgent"]'),
    Parameter("lines", {"type": "array", "minItems": 1, "items": _LINE_ITEM}, _lines, "[]"),
    Parameter("address", _ADDRESS, _address, '"12 Harbour Street"'),
    Parameter("filters", {"type": "array", "items": _FILTER}, _filters, '{"field":"status"}'),
    Parameter(
        "tags",
        {"type": "array", "items": _TEXT, "uniqueItems": True, "maxItems": 8},
        lambda rng: ",".join(f'"{word}"' for word in rng.sample(WORDS, rng.randrange(1, 5))).join("[]"),
        '"urgent, late"',
    ),
    Parameter(
        "contact",
        {"anyOf": [_object({"email": _TEXT}), _object({"phone": _TEXT})]},
        lambda rng: f'{{"email":"{rng.choice(WORDS)}.{rng.randrange(10**5)}@example.com"}}',
        '{"fax":"none"}',
    ),
    Parameter("priority", {"type": "integer", "enum": [1, 2, 3]}, _number(1, 4), "4"),
)
