-- title: Duplicates
-- answers: Which files repeat answers that the lake already holds, and where do they stand first?
-- param: source text = null: only this file, or those that a pattern with * and ? matches
-- param: top integer = 50: how many rows at most

SELECT
    duplicates.source_file,
    first.source_file AS first_in,
    count(*) AS turns,
    min(duplicates.source_line) AS from_line,
    max(duplicates.source_line) AS to_line
FROM duplicates LEFT JOIN turns AS first USING (turn_key)
WHERE matches(duplicates.source_file, $source)
GROUP BY duplicates.source_file, first_in
ORDER BY turns DESC, duplicates.source_file, first_in
LIMIT $top
