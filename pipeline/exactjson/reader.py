"""The slow look: one document of a text to the value it holds, with every digit of its numbers."""

from __future__ import annotations

from typing import Any

from pipeline.exactjson.scanner import OBJECT, OPENED, Scanner


class Reader(Scanner):
    """Keeps what it reads, but for levels that are too deep to be built; ``duplicate_keys`` says that some came twice.

    A text need not be sound: it is read as far as it goes. So this is also the plain way to find a flaw.
    """

    def __init__(self, text: str, at: int, max_depth: int) -> None:
        super().__init__(text, at, max_depth)
        self.duplicate_keys = False
        self._nodes: list[Any] = []
        self._keys: list[str | None] = []  # of each level, the key under which the value that is read will lie

    def read(self) -> Any:
        """Return the value of the document, and stand behind it.

        Raises:
            EndsEarlyError: the text ends inside the document.
            StopError: a flaw that cannot be read past; it is noted.

        """
        while True:
            value = self._value()
            if value is OPENED:
                if self._peek() not in "]}":
                    self._keys.append(self._key_if_due())
                    continue
                value = self._close()
            while self._kinds:
                self._attach(value)
                if self._comma():
                    self._keys.append(self._key_if_due())
                    break
                value = self._close()
            else:
                return value

    def _enter(self, bracket: int) -> None:
        super()._enter(bracket)
        if len(self._kinds) <= self._max_depth:
            self._nodes.append({} if bracket == OBJECT else [])

    def _close(self) -> Any:
        self._leave()
        return self._nodes.pop() if len(self._kinds) < self._max_depth else None

    def _attach(self, value: Any) -> None:
        key = self._keys.pop()
        if len(self._kinds) > self._max_depth:
            return
        node = self._nodes[-1]
        if key is None:
            node.append(value)
        else:
            self.duplicate_keys = self.duplicate_keys or key in node
            node[key] = value
