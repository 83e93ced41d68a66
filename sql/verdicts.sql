-- title: Verdict shares
-- answers: How do the calls divide over the verdicts?
-- param: since, until, model, tool
--
-- Shares are out of all calls and add up to 100 %; a verdict that no call has is not listed.

WITH verdicts AS (
    SELECT state, outcome, count(*) AS calls
    FROM calls AS c
    WHERE made_between(created_at, $since, $until)
        AND matches(model, $model)
        AND matches(tool_label(tool_namespace, tool_name), $tool)
    GROUP BY state, outcome
),
whole AS (
    SELECT CAST(sum(calls) AS BIGINT) AS total FROM verdicts
)
SELECT
    state,
    outcome,
    calls,
    share(calls, total) AS share,
    wilson_low(calls, total) AS share_low,
    wilson_high(calls, total) AS share_high
FROM verdicts CROSS JOIN whole
ORDER BY calls DESC, state
