"""Deltas of ``tool_calls`` -> whole calls. The hard question: whether a delta continues a call or begins another."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pipeline.formats.assembly.fragments import (
    Fragments,
    NameFragments,
    in_place,
    index_of,
    is_whole_object,
    text_or_none,
)


@dataclass(slots=True)
class NamedText:
    """A name with a text: ``function`` and ``function_call`` have ``arguments``, ``custom`` has ``input``."""

    text_key: str
    name: NameFragments = field(default_factory=NameFragments)
    text: Fragments = field(default_factory=Fragments)

    def take(self, delta: dict[str, Any]) -> None:
        """Take the member of one delta."""
        self.name.add(delta.get("name"), late=self.text.begun)
        if self.text_key in delta:
            self.text.add(delta[self.text_key])

    @property
    def is_stub(self) -> bool:
        """Gateways write empty names and texts where there is nothing."""
        return not self.name.pieces and not self.text.begun

    def result(self) -> dict[str, Any]:
        """What came, and no key that never came."""
        result: dict[str, Any] = {}
        if self.name.seen:
            result["name"] = self.name.result()
        if self.text.seen:
            result[self.text_key] = self.text.result()
        return result


@dataclass(slots=True)
class _Call:
    index: int | None
    id: str | None = None
    function: NamedText | None = None
    custom: NamedText | None = None

    def take(self, delta: dict[str, Any]) -> None:
        self.index = index_of(delta.get("index")) if self.index is None else self.index
        if isinstance(delta.get("id"), str):
            self.id = self.id or delta["id"]
        if isinstance(delta.get("function"), dict):
            self.function = self.function or NamedText("arguments")
            self.function.take(delta["function"])
        if isinstance(delta.get("custom"), dict):
            self.custom = self.custom or NamedText("input")
            self.custom.take(delta["custom"])

    def is_ended_by(self, delta: dict[str, Any], *, same_chunk: bool) -> bool:
        """Whether a delta that has this call's place begins another call. ``same_chunk``: this one was just written.

        Two ids are two calls. Where ids don't tell, a name does: no name comes after the arguments have begun, save the
        same one again; and after a complete object only another call can bring one more.
        """
        call_id = text_or_none(delta.get("id"))
        if self.id and call_id and self.id != call_id:
            return True
        key, name = _named_member(delta)
        part = self.custom if key == "custom" else self.function
        if part is None or name is None or not part.name.pieces:
            return False
        same_id = call_id is not None and call_id == self.id
        renamed = (call_id is not None or part.text.begun) and not part.name.is_known(name)
        if not same_id and (same_chunk or renamed):
            return True
        return part.text.is_whole_object() and is_whole_object(delta[key].get(part.text_key))

    def result(self) -> dict[str, Any]:
        result: dict[str, Any] = {} if self.id is None else {"id": self.id}
        if self.custom is not None and (self.function is None or not self.custom.is_stub):
            return {**result, "type": "custom", "custom": self.custom.result()}
        result["type"] = "function"
        if self.function is not None:
            result["function"] = self.function.result()
        return result

    @property
    def is_stub(self) -> bool:
        return not self.id and all(part is None or part.is_stub for part in (self.function, self.custom))


def _named_member(delta: dict[str, Any]) -> tuple[str, str | None]:
    """Which member of a delta names a tool, and the name; a stub beside the real one names nothing."""
    for key in ("function", "custom"):
        member = delta.get(key)
        name = text_or_none(member.get("name")) if isinstance(member, dict) else None
        if name is not None:
            return key, name
    return "function", None


@dataclass(slots=True)
class CallList:
    """The calls of one choice, in the making."""

    _calls: list[_Call] = field(default_factory=list)
    _by_index: dict[int, _Call] = field(default_factory=dict)
    _by_id: dict[tuple[int | None, str], _Call] = field(default_factory=dict)
    _last: _Call | None = None

    def take(self, deltas: Any) -> None:
        """Take the ``tool_calls`` of one delta: a list, or the one entry by itself."""
        touched: set[int] = set()
        for delta in deltas if isinstance(deltas, list) else [deltas]:
            if not isinstance(delta, dict):
                continue
            call = self._find(delta)
            if call is None or call.is_ended_by(delta, same_chunk=id(call) in touched):
                call = _Call(index_of(delta.get("index")))
                self._calls.append(call)
            call.take(delta)
            touched.add(id(call))
            self._remember(call, delta)
            self._last = call

    def _find(self, delta: dict[str, Any]) -> _Call | None:
        """The call a delta names: by index and id, else by index, else by id, else the last one."""
        index, call_id = index_of(delta.get("index")), text_or_none(delta.get("id"))
        if call_id and (index, call_id) in self._by_id:
            return self._by_id[index, call_id]
        if index is None:
            return self._last
        if index not in self._by_index and call_id:
            call = self._by_id.get((None, call_id))
            return call if call is not None and call.index is None else None
        return self._by_index.get(index)

    def _remember(self, call: _Call, delta: dict[str, Any]) -> None:
        index, call_id = index_of(delta.get("index")), text_or_none(delta.get("id"))
        if index is not None:
            self._by_index[index] = call
        if call_id:
            self._by_id[index, call_id] = call
            self._by_id.setdefault((None, call_id), call)

    def result(self) -> list[dict[str, Any]]:
        """The calls by index where they have one, else in order of arrival."""
        return [call.result() for call in in_place([(call.index, call) for call in self._calls]) if not call.is_stub]
