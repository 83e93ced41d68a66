-- title: Violation rate by day
-- answers: Does it get better or worse, day by day (UTC)?
-- param: since, until, model, tool, min_calls
--
-- The rate is findings out of findings and usable calls; cut and unjudged calls stand beside it, never inside it.

SELECT
    CAST(created_at AS DATE) AS day,
    count(*) AS calls,
    count(*) FILTER (WHERE outcome = 'usable') AS usable,
    count(*) FILTER (WHERE outcome = 'finding') AS findings,
    share(findings, findings + usable) AS rate,
    wilson_low(findings, findings + usable) AS rate_low,
    wilson_high(findings, findings + usable) AS rate_high,
    count(*) FILTER (WHERE outcome = 'cut') AS cut,
    count(*) FILTER (WHERE outcome = 'unjudged') AS unjudged
FROM calls AS c
WHERE made_between(created_at, $since, $until)
    AND matches(model, $model)
    AND matches(tool_label(tool_namespace, tool_name), $tool)
GROUP BY day
HAVING calls >= $min_calls
ORDER BY day
