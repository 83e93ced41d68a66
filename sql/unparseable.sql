-- title: Unparseable arguments by fault
-- answers: What is wrong with arguments that do not parse to an object?
-- param: since, until, model, tool, min_calls
--
-- share is out of all unparseable calls; those that were cut off are another matter: see truncation.

WITH faults AS (
    SELECT
        fault,
        count(*) AS calls,
        count(DISTINCT tool_label(tool_namespace, tool_name)) AS tools,
        count(DISTINCT model) AS models,
        min(source_file) AS example_file,
        min_by(call_key, (source_file, source_offset, call_index)) AS example_key
    FROM calls AS c
    WHERE state = 'arguments-unparseable'
        AND made_between(created_at, $since, $until)
        AND matches(model, $model)
        AND matches(tool_label(tool_namespace, tool_name), $tool)
    GROUP BY fault
),
whole AS (
    SELECT CAST(sum(calls) AS BIGINT) AS total FROM faults
)
SELECT
    faults.fault,
    calls,
    share(calls, total) AS share,
    wilson_low(calls, total) AS share_low,
    wilson_high(calls, total) AS share_high,
    tools,
    models,
    left(c.arguments, 60) AS example
FROM faults CROSS JOIN whole
-- The file is asked for too, since its statistics spare reading the arguments of all the others.
LEFT JOIN calls AS c ON c.source_file = example_file AND c.call_key = example_key
WHERE calls >= $min_calls
ORDER BY calls DESC, faults.fault
