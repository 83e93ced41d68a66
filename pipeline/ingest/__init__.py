"""Logs into a lake, only what is new: workers stage the rows of their splits, one process lands and commits them."""

from pipeline.ingest.ingestion import Ingested, ingest

__all__ = ["Ingested", "ingest"]
