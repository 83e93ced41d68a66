-- title: Truncation by model and tool
-- answers: Where does an output ceiling cut calls off, and how long were they by then?
-- param: since, until, model, tool, min_calls
--
-- cut_rate is out of all calls. turns_cut also counts calls that came through whole although their turn was cut.
-- Sizes are bytes of arguments; output_tokens are those of the turn, and where they cluster stands the ceiling.

SELECT
    model,
    tool_label(tool_namespace, tool_name) AS tool,
    count(*) AS calls,
    count(*) FILTER (WHERE outcome = 'cut') AS cut,
    share(cut, calls) AS cut_rate,
    wilson_low(cut, calls) AS cut_rate_low,
    wilson_high(cut, calls) AS cut_rate_high,
    count(*) FILTER (WHERE truncation IS NOT NULL) AS turns_cut,
    round(avg(arguments_bytes) FILTER (WHERE outcome = 'cut'), 1) AS mean_bytes_cut,
    round(avg(arguments_bytes) FILTER (WHERE outcome IN ('usable', 'finding')), 1) AS mean_bytes_whole,
    median(output_tokens) FILTER (WHERE outcome = 'cut') AS median_tokens_cut,
    max(output_tokens) FILTER (WHERE outcome = 'cut') AS max_tokens_cut
FROM calls AS c
WHERE made_between(created_at, $since, $until)
    AND matches(model, $model)
    AND matches(tool_label(tool_namespace, tool_name), $tool)
GROUP BY model, tool
HAVING turns_cut > 0 AND calls >= $min_calls
ORDER BY cut_rate_low DESC, cut DESC, model, tool
