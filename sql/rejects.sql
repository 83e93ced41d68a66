-- title: Rejects
-- answers: Which records could not be read, and why?
-- param: source text = null: only this file, or those that a pattern with * and ? matches
-- param: top integer = 50: how many rows at most

SELECT
    source_file,
    reason,
    count(*) AS records,
    CAST(sum(bytes) AS BIGINT) AS bytes,
    min(source_line) AS first_line,
    left(min_by(excerpt, source_offset), 60) AS example
FROM rejects
WHERE matches(source_file, $source)
GROUP BY source_file, reason
ORDER BY records DESC, source_file, reason
LIMIT $top
