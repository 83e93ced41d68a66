-- title: Top violations
-- answers: Which part of which tool's arguments breaks its schema most often, and how does one such call look?
-- param: since, until, model, tool, min_calls
-- param: top integer = 25: how many rows at most
--
-- violations counts places, calls the calls that have one; example is one of them, found by its call_key.

WITH kinds AS (
    SELECT
        tool_name AS tool,
        path_pattern,
        keyword,
        count(DISTINCT call_key) AS calls,
        count(*) AS violations,
        min_by(message, (call_key, violation_index)) AS example,
        min(call_key) AS example_call_key
    FROM violations
    WHERE made_between(created_at, $since, $until) AND matches(model, $model) AND matches(tool_name, $tool)
    GROUP BY tool, path_pattern, keyword
    HAVING calls >= $min_calls
    ORDER BY calls DESC, violations DESC, tool, path_pattern, keyword
    LIMIT $top
)
SELECT
    tool,
    path_pattern,
    keyword,
    calls,
    violations,
    example,
    c.source_file || ':' || c.source_line AS example_at
FROM kinds LEFT JOIN calls AS c ON c.call_key = kinds.example_call_key
ORDER BY calls DESC, violations DESC, tool, path_pattern, keyword
