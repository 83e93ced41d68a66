"""Judge the tool calls in LLM logs against the tool schemas declared beside them."""

__version__ = "0.1.0"
