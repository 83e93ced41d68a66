"""The lake: a directory of Parquet parts and a manifest that says which of them count.

    <lake>/_manifest.json     what has been read, and which parts are committed
    <lake>/_lock              held while a run writes
    <lake>/_staging/run-*/    parts being written; nobody reads here
    <lake>/calls/part-*.parquet, and so on for every table

A commit renames finished parts into their tables and then replaces the manifest; that replacement is the one moment
in which rows begin or cease to count. Whatever a killed run leaves is named by no manifest and swept at the next start.
Only files whose names carry this lake's own id are ever removed.

A reader through :func:`committed_parts` sees exactly the last commit. A reader that globs ``calls/*.parquet`` never
meets a half-written file either; but plain files have no way to swap several at once, so for the milliseconds between
renaming and removal it may see the old and the new version of rewritten rows, and after a kill in the midst of a commit
it sees parts that do not count until the next start sweeps them.
"""

from __future__ import annotations

from pipeline.lake.manifest import committed_parts

__all__ = ["committed_parts"]
