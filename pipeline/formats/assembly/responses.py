"""Events of the Responses API -> ``response`` objects: the final one where it came, else what is known without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.formats.assembly.fragments import Fragments, in_place, index_of, text_or_none
from pipeline.formats.assembly.kinds import is_whole_response

_CREATED = "response.created"
#: Events that bring the answer as it is before anything is in it, but with its tools.
_OPENING = frozenset({_CREATED, "response.in_progress", "response.queued"})
#: Events that bring the finished answer, and the status they stand for.
_FINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
    "response.done": None,
}
#: Events that bring a call's text: type of the item, and the member of item and ``done`` event that holds the text.
_TEXTS = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.mcp_call_arguments": ("mcp_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
}
_UNFINISHED = ("in_progress", "queued")


def assemble_responses(events: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One answer for each ``response.created`` of another id; a stream that begins later gives one all the same."""
    answers: list[_Answer] = []
    for event in events:
        response = event if is_whole_response(event) else event.get("response")
        response = response if isinstance(response, dict) else {}
        if not answers or answers[-1].is_ended_by(event.get("type"), response):
            answers.append(_Answer())
        answers[-1].take(event, response)
    return [answer.result() for answer in answers]


@dataclass(slots=True)
class _Item:
    """One item of the output: as it was announced, its text as it came, and as it ended. Each may be missing."""

    place: int | None
    added: dict[str, Any] | None = None
    done: dict[str, Any] | None = None
    deltas: Fragments = field(default_factory=Fragments)
    #: What a ``.done`` event said about the text, and the type and member that such events imply.
    text: Any = None
    implied: dict[str, Any] = field(default_factory=dict)
    text_key: str | None = None

    def is_other_than(self, item: dict[str, Any]) -> bool:
        """Whether an item of the same place is another call. Item ids prove nothing: some hosts rotate them."""
        known = self.done or self.added or {}
        call_ids = text_or_none(known.get("call_id")), text_or_none(item.get("call_id"))
        return all(call_ids) and call_ids[0] != call_ids[1]

    def result(self) -> dict[str, Any]:
        """The item with its text. Its status is its own: nothing here claims that it was cut at a ceiling."""
        added, done, key = self.added or {}, self.done or {}, self.text_key
        item = {**self.implied, **added, **done}
        if key is None:
            return item
        # The later an event, the more it knows; but one that says nothing takes nothing back.
        said = [
            value for value in (done.get(key), self.text, self.deltas.result(), added.get(key)) if value is not None
        ]
        if said:
            item[key] = next((value for value in said if value != ""), "")
        return item


@dataclass(slots=True)
class _Answer:
    """One answer in the making."""

    opening: dict[str, Any] = field(default_factory=dict)
    final: dict[str, Any] | None = None
    final_status: str | None = None
    created: bool = False
    error: Any = None
    items: list[_Item] = field(default_factory=list)
    by_place: dict[int, _Item] = field(default_factory=dict)
    by_id: dict[tuple[str, str], _Item] = field(default_factory=dict)

    def is_ended_by(self, type_: Any, response: dict[str, Any]) -> bool:
        """Whether an event belongs to another answer. A stream that is resumed says the same id again."""
        known = text_or_none((self.final or self.opening).get("id"))
        other = text_or_none(response.get("id"))
        if known and known == other:
            return False
        if type_ == _CREATED:
            return self.created or self.final is not None
        return self.final is not None and bool(response)

    def take(self, event: dict[str, Any], response: dict[str, Any]) -> None:
        type_ = event.get("type")
        if response is event:
            self.final = response
        elif not isinstance(type_, str):
            return
        elif type_ in _OPENING:
            self.created = self.created or type_ == _CREATED
            _merge(self.opening, response)
        elif type_ in _FINAL:
            self.final, self.final_status = response, _FINAL[type_]
        elif type_ in ("response.output_item.added", "response.output_item.done"):
            if isinstance(event.get("item"), dict):
                self._take_item(event, event["item"], done=type_.endswith("done"))
        elif type_ in ("error", "response.error"):
            self.error = event.get("error") or {key: event.get(key) for key in ("code", "message")}
        else:
            self._take_text(event, *type_.rpartition(".")[::2])

    def _take_item(self, event: dict[str, Any], item: dict[str, Any], *, done: bool) -> None:
        place = index_of(event.get("output_index"))
        names = _names(item.get("id"), item.get("call_id"))
        entry = self._find(place, names)
        if entry is None or entry.is_other_than(item):
            entry = self._open(place)
        self.by_id.update(dict.fromkeys(names, entry))
        if done:
            entry.done = item
        else:
            entry.added = item
        entry.text_key = next((key for type_, key in _TEXTS.values() if item.get("type") == type_), entry.text_key)

    def _take_text(self, event: dict[str, Any], stem: str, ending: str) -> None:
        if stem not in _TEXTS or ending not in ("delta", "done"):
            return
        place = index_of(event.get("output_index"))
        names = _names(event.get("item_id"), event.get("call_id"))
        entry = self._find(place, names)
        if entry is None:
            entry = self._open(place) if names or place is not None or not self.items else self.items[-1]
            self.by_id.update(dict.fromkeys(names, entry))
        type_, key = _TEXTS[stem]
        entry.text_key = key
        implied = {
            "type": type_,
            "id": event.get("item_id"),
            "call_id": event.get("call_id"),
            "name": event.get("name"),
        }
        entry.implied = {name: value for name, value in implied.items() if isinstance(value, str)} | entry.implied
        if ending == "delta" and isinstance(event.get("delta"), str):
            entry.deltas.add(event["delta"])
        elif ending == "done" and event.get(key) is not None:
            entry.text = event[key]

    def _find(self, place: int | None, names: Sequence[tuple[str, str]]) -> _Item | None:
        """The item of an event: by its place, else by one of its ids, unless that one has another place."""
        if place is not None and place in self.by_place:
            return self.by_place[place]
        entry = next((self.by_id[name] for name in names if name in self.by_id), None)
        return entry if entry is None or place is None or entry.place is None else None

    def _open(self, place: int | None) -> _Item:
        entry = _Item(place)
        self.items.append(entry)
        if place is not None:
            self.by_place[place] = entry
        return entry

    def result(self) -> dict[str, Any]:
        answer = {"object": "response", **self.opening}
        _merge(answer, self.final or {})
        if self.final is None:
            # Cut before its end. How it ended is not known, so no status may say that it did, or that it still runs.
            answer.pop("status", None)
        elif self.final_status and (answer.get("status") in _UNFINISHED or not isinstance(answer.get("status"), str)):
            answer["status"] = self.final_status
        if self.error is not None and not answer.get("error"):
            answer["error"] = self.error
        if not isinstance(answer.get("output"), list) or not answer["output"] or self.final is None:
            items = [item.result() for item in in_place([(item.place, item) for item in self.items])]
            answer["output"] = items or answer.get("output") or []
        return answer


def _names(item_id: Any, call_id: Any) -> list[tuple[str, str]]:
    ids = (("call_id", text_or_none(call_id)), ("id", text_or_none(item_id)))
    return [(kind, value) for kind, value in ids if value is not None]


def _merge(answer: dict[str, Any], later: dict[str, Any]) -> None:
    """Take the members of a later object, unless it has null or an empty list where the earlier one has something."""
    answer.update((key, value) for key, value in later.items() if value not in (None, []) or key not in answer)
