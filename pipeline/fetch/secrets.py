"""The key: where it comes from, and how it is kept out of everything that is printed, logged or written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from pipeline.errors import PipelineError
from pipeline.printable import printable

KEY_VARIABLE = "OPENAI_API_KEY"
_MASK = "[key]"
#: A shorter value is a placeholder for a server that asks for no key; hiding it would blot out ordinary words.
_SECRET_LENGTH_MIN = 4
#: A value as long as this is no ordinary word, so that a body which holds it can only mean the secret itself.
_UNMISTAKABLE_LENGTH_MIN = 20


@dataclass(frozen=True, repr=False)
class Secrets:
    """The key of the environment, blank where there is none; ``hidden`` holds all that is secret, longest first."""

    key: str
    hidden: tuple[str, ...]

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Secrets:
        """The secrets of ``environ``."""
        key = environ.get(KEY_VARIABLE, "").strip()
        others = (environ.get("OPENAI_ADMIN_KEY", "").strip(), _password(environ.get("OPENAI_BASE_URL", "")))
        hidden = {text for text in (key, *others) if len(text) >= _SECRET_LENGTH_MIN}
        return cls(key, tuple(sorted(hidden, key=len, reverse=True)))

    def require_key(self) -> str:
        """The key, fit for a header.

        Raises:
            PipelineError: ``key-missing``, or ``key-malformed`` where no HTTP header could carry it.
        """
        if not self.key:
            raise PipelineError(
                "key-missing",
                f"{KEY_VARIABLE} is not set, and without a key the API answers nothing.",
                f"Set {KEY_VARIABLE} to a key of the project that made the answers; read permission is enough.",
            )
        if not re.fullmatch(r"[!-~]+", self.key):
            raise PipelineError(
                "key-malformed",
                f"{KEY_VARIABLE} holds blanks or characters beyond ASCII, which no key has.",
                "Copy the key again; quotes or a line break may have come along.",
            )
        return self.key

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Scrub the errors of a block: files and servers can hold anything, and so can the words about them.

        Raises:
            PipelineError: What the block raised, without a trace of what caused it.
        """
        try:
            yield
        except PipelineError as error:
            message, hint = self.scrub(error.message), self.scrub(error.hint)
            raise PipelineError(error.code, message, hint, error.exit_status) from None

    def __repr__(self) -> str:
        return "Secrets()"

    def scrub(self, text: str) -> str:
        """``text`` with every secret replaced."""
        for secret in self.hidden:
            text = text.replace(secret, _MASK)
        return text

    def phrase(self, text: str, length_max: int = 200) -> str:
        """Words of a server made fit for one line on a terminal: scrubbed first, then flattened and shortened."""
        return printable(" ".join(self.scrub(text).split()), length_max)

    def occur_in(self, body: bytes) -> bool:
        """Whether a body holds a secret, so that writing it as it came would write the secret."""
        return any(len(secret) >= _UNMISTAKABLE_LENGTH_MIN and secret.encode() in body for secret in self.hidden)


def _password(url: str) -> str:
    try:
        return urlsplit(url).password or ""
    except ValueError:
        return ""
