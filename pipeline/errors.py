"""The one error that reaches a user: what happened, where, and what to do.

A bad record is a reject and a bad call is a verdict; neither is an error. What is left, a bad file, flag, query or
network, ends the command as a :class:`PipelineError`.
"""

from __future__ import annotations

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_FAILED = 2


class PipelineError(Exception):
    """Something outside the log itself kept a command from doing its work.

    ``code`` is a stable kebab-case name, ``message`` one sentence that says what happened and where, ``hint`` one
    sentence that says what to do (empty where there is nothing to advise), ``exit_status`` what the process ends with.
    """

    def __init__(self, code: str, message: str, hint: str = "", exit_status: int = EXIT_FAILED) -> None:
        super().__init__(code, message, hint, exit_status)
        self.code = code
        self.message = message
        self.hint = hint
        self.exit_status = exit_status

    def __str__(self) -> str:
        return f"error[{self.code}]: {self.message}" + (f"\nhint: {self.hint}" if self.hint else "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PipelineError) and self.args == other.args

    def __hash__(self) -> int:
        return hash(self.args)
