-- title: Tool inventory
-- answers: Which tools were declared, how, and are they called at all?
-- param: tool
-- param: max_calls integer = null: only definitions with at most this many calls (0: those never called)

WITH called AS (
    SELECT tool_key, count(*) AS calls, max(created_at) AS last_made
    FROM calls AS c
    WHERE tool_key IS NOT NULL
    GROUP BY tool_key
)
SELECT
    tool_label(tool_namespace, tool_name) AS tool,
    left(tool_key, 12) AS version,
    strict,
    coalesce(calls, 0) AS calls,
    last_made,
    strlen(parameters) AS schema_bytes,
    schema_error,
    left(description, 60) AS description
FROM tools LEFT JOIN called USING (tool_key)
WHERE matches(tool, $tool) AND ($max_calls IS NULL OR coalesce(called.calls, 0) <= $max_calls)
ORDER BY tool, last_made DESC NULLS LAST, version
