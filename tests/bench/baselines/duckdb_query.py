"""What one writes in SQL: DuckDB's own JSON reader over a log of Responses objects.

It finds calls, broken arguments, cut answers, unknown tools and missing required parameters. That is as far as plain
SQL goes: no other keyword of JSON Schema is checked, and NaN and trailing commas pass as JSON.
"""

from __future__ import annotations

import sys

import duckdb

QUERY = """
WITH answers AS (
    SELECT status, output, tools
    FROM read_json($path, format = 'newline_delimited', maximum_object_size = 268435456,
                   columns = {status: 'VARCHAR', output: 'JSON[]', tools: 'JSON[]'})
),
calls AS (
    SELECT status, tools, item->>'name' AS name, item->>'arguments' AS arguments
    FROM (SELECT status, tools, unnest(output) AS item FROM answers)
    WHERE item->>'type' = 'function_call'
),
joined AS (
    SELECT status, arguments, list_filter(tools, lambda tool: tool->>'name' = name)[1] AS tool
    FROM calls
),
judged AS (
    SELECT CASE
        WHEN NOT json_valid(arguments) AND status = 'incomplete' THEN 'truncated'
        WHEN NOT json_valid(arguments) OR json_type(arguments) <> 'OBJECT' THEN 'unparseable'
        WHEN tool IS NULL THEN 'unknown tool'
        WHEN NOT list_has_all(json_keys(arguments), coalesce((tool->'$.parameters.required')::VARCHAR[], []))
            THEN 'required parameter missing'
        WHEN (tool->>'strict') = 'true' THEN 'fine, strict'
        ELSE 'fine'
    END AS verdict
    FROM joined
)
SELECT verdict, count(*) AS calls FROM judged GROUP BY ALL ORDER BY calls DESC
"""


def main() -> None:
    """Count the verdicts of the file that is named on the command line, on one thread unless told otherwise."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {int(sys.argv[2]) if len(sys.argv) > 2 else 1}")
    for verdict, count in connection.execute(QUERY, {"path": sys.argv[1]}).fetchall():
        print(f"{verdict:28} {count}")


if __name__ == "__main__":
    main()
