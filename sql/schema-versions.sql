-- title: Schema versions of a tool
-- answers: How did each tool's definition change, and what did each version do to its violation rate?
-- param: since, until, model, tool, min_calls
-- param: min_versions integer = 1: only tools that were called under at least this many definitions
--
-- A version is one whole definition: a new description makes one as much as a new schema. version begins the key by
-- which the tables calls and tools are joined (tool_key).

WITH versions AS (
    SELECT
        tool_key,
        count(*) AS calls,
        count(*) FILTER (WHERE outcome = 'usable') AS usable,
        count(*) FILTER (WHERE outcome = 'finding') AS findings,
        count(*) FILTER (WHERE outcome = 'cut') AS cut,
        count(*) FILTER (WHERE outcome = 'unjudged') AS unjudged,
        min(created_at) AS first_made,
        max(created_at) AS last_made
    FROM calls AS c
    WHERE tool_key IS NOT NULL
        AND made_between(created_at, $since, $until)
        AND matches(model, $model)
    GROUP BY tool_key
)
SELECT
    tool_label(tool_namespace, tool_name) AS tool,
    left(tool_key, 12) AS version,
    strict,
    first_made,
    last_made,
    calls,
    usable,
    findings,
    share(findings, findings + usable) AS rate,
    wilson_low(findings, findings + usable) AS rate_low,
    wilson_high(findings, findings + usable) AS rate_high,
    cut,
    unjudged
FROM versions JOIN tools USING (tool_key)
WHERE calls >= $min_calls
    AND matches(tool_label(tool_namespace, tool_name), $tool)
QUALIFY count(*) OVER (PARTITION BY tool) >= $min_versions
ORDER BY tool, first_made NULLS LAST, version
