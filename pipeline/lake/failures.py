"""What the disk says, in words for a user: every OSError of the lake becomes a PipelineError with a hint."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from pipeline.errors import PipelineError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


@contextmanager
def disk_trouble(lake: Path, deed: str) -> Iterator[None]:
    """Turn an error of the disk while doing ``deed`` ("committing") into one for the user.

    Raises:
        PipelineError: ``disk-full``, ``lake-not-writable``, ``lake-damaged`` or ``lake-io``.

    """
    try:
        yield
    except OSError as error:
        raise _for_user(lake, deed, error) from error
    except pa.ArrowInvalid as error:
        raise damaged(lake, f"a part cannot be read ({error})") from error


def _for_user(lake: Path, deed: str, error: OSError) -> PipelineError:
    if error.errno in _FULL:
        return PipelineError(
            "disk-full",
            f"no space left on the disk of {lake} while {deed}; the lake is as the last commit left it",
            "free some space and run the same command again: it goes on from the last commit",
        )
    if error.errno in _FORBIDDEN:
        return PipelineError(
            "lake-not-writable",
            f"no permission to write to {lake} while {deed} ({error.strerror})",
            "give this user write permission on the directory, or choose another with --lake",
        )
    return PipelineError(
        "lake-io",
        f"the disk failed while {deed} in {lake}: {error}",
        "the lake is as the last commit left it; run the same command again once the disk is well",
    )


def damaged(lake: Path, what: str) -> PipelineError:
    """Build the error for a lake whose manifest and parts do not agree."""
    return PipelineError(
        "lake-damaged",
        f"{lake} is damaged: {what}",
        "restore the lake from a backup, or read all logs anew with ingest --full",
    )
