-- title: Violation rate by tool and model
-- answers: Does a tool go wrong with every model, or with one? Models stand side by side under each tool.
-- param: since, until, model, tool, min_calls
--
-- tool_rate is the tool's rate over all the models listed. Where it lies outside rate_low to rate_high, the model
-- differs from the others by more than chance explains.

WITH pairs AS (
    SELECT
        tool_label(tool_namespace, tool_name) AS tool,
        model,
        count(*) AS calls,
        count(*) FILTER (WHERE outcome = 'usable') AS usable,
        count(*) FILTER (WHERE outcome = 'finding') AS findings,
        count(*) FILTER (WHERE outcome = 'cut') AS cut,
        count(*) FILTER (WHERE outcome = 'unjudged') AS unjudged
    FROM calls AS c
    WHERE made_between(created_at, $since, $until)
        AND matches(model, $model)
        AND matches(tool_label(tool_namespace, tool_name), $tool)
    GROUP BY tool, model
    HAVING calls >= $min_calls
)
SELECT
    tool,
    model,
    calls,
    usable,
    findings,
    share(findings, findings + usable) AS rate,
    wilson_low(findings, findings + usable) AS rate_low,
    wilson_high(findings, findings + usable) AS rate_high,
    share(sum(findings) OVER of_tool, sum(findings + usable) OVER of_tool) AS tool_rate,
    cut,
    unjudged
FROM pairs
WINDOW of_tool AS (PARTITION BY tool)
ORDER BY tool_rate DESC NULLS LAST, tool, rate_low DESC NULLS LAST, findings DESC, model
