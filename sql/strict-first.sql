-- title: Tools to make strict first
-- answers: Which loose tools would strict: true spare the most findings?
-- param: since, until, model, tool, min_calls
--
-- Strict decoding holds the grammar and the schema, so it prevents both unparseable and violating arguments.
-- share_of_findings is out of all the preventable findings of the tools selected.

WITH loose AS (
    SELECT
        tool_label(tool_namespace, tool_name) AS tool,
        count(*) AS calls,
        count(*) FILTER (WHERE outcome = 'usable') AS usable,
        count(*) FILTER (WHERE outcome = 'finding') AS preventable,
        count(DISTINCT model) AS models
    FROM calls AS c
    WHERE NOT strict
        AND made_between(created_at, $since, $until)
        AND matches(model, $model)
        AND matches(tool_label(tool_namespace, tool_name), $tool)
    GROUP BY tool
),
whole AS (
    SELECT CAST(sum(preventable) AS BIGINT) AS total FROM loose
)
SELECT
    tool,
    calls,
    usable,
    preventable,
    share(preventable, preventable + usable) AS rate,
    wilson_low(preventable, preventable + usable) AS rate_low,
    wilson_high(preventable, preventable + usable) AS rate_high,
    share(preventable, total) AS share_of_findings,
    models
FROM loose CROSS JOIN whole
WHERE calls >= $min_calls AND preventable > 0
ORDER BY preventable DESC, rate_low DESC, tool
