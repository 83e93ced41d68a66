-- title: Parallel turns
-- answers: How often does a model make several calls in one turn?
-- param: since, until, model
-- param: min_turns integer = 1: leave out models with fewer turns than this
--
-- parallel_rate is out of the turns that made a call. unasked counts parallel turns where the request had said
-- parallel_tool_calls: false.

SELECT
    model,
    count(*) AS turns,
    count(*) FILTER (WHERE calls > 0) AS with_calls,
    count(*) FILTER (WHERE calls > 1) AS parallel,
    share(parallel, with_calls) AS parallel_rate,
    wilson_low(parallel, with_calls) AS parallel_rate_low,
    wilson_high(parallel, with_calls) AS parallel_rate_high,
    coalesce(CAST(sum(calls) FILTER (WHERE calls > 1) AS BIGINT), 0) AS calls_in_parallel,
    max(calls) AS most_calls,
    count(*) FILTER (WHERE calls > 1 AND NOT parallel_tool_calls) AS unasked
FROM turns AS t
WHERE made_between(created_at, $since, $until) AND matches(model, $model)
GROUP BY model
HAVING turns >= $min_turns
ORDER BY parallel DESC, model
