-- title: Strict against loose
-- answers: What does declaring a tool strict do to its violation rate?
-- param: since, until, model, tool, min_calls
--
-- Only calls of declared tools: a definition is strict where its own flag says strict: true, and loose otherwise.

SELECT
    CASE WHEN GROUPING(tool_label(tool_namespace, tool_name)) = 1 THEN '(all tools)'
        ELSE tool_label(tool_namespace, tool_name) END AS tool,
    CASE WHEN strict THEN 'strict' ELSE 'loose' END AS declared,
    count(*) AS calls,
    count(*) FILTER (WHERE outcome = 'usable') AS usable,
    count(*) FILTER (WHERE outcome = 'finding') AS findings,
    share(findings, findings + usable) AS rate,
    wilson_low(findings, findings + usable) AS rate_low,
    wilson_high(findings, findings + usable) AS rate_high,
    count(*) FILTER (WHERE state = 'arguments-unparseable') AS unparseable,
    count(*) FILTER (WHERE state = 'arguments-violate-schema') AS violating,
    count(*) FILTER (WHERE outcome = 'cut') AS cut,
    count(*) FILTER (WHERE outcome = 'unjudged') AS unjudged
FROM calls AS c
WHERE strict IS NOT NULL
    AND made_between(created_at, $since, $until)
    AND matches(model, $model)
    AND matches(tool_label(tool_namespace, tool_name), $tool)
GROUP BY GROUPING SETS ((declared), (tool_label(tool_namespace, tool_name), declared))
HAVING calls >= $min_calls
ORDER BY GROUPING(tool_label(tool_namespace, tool_name)) DESC, tool, declared DESC
