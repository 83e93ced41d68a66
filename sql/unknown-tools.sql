-- title: Unknown tools
-- answers: Which names are called that no definition has, and which declared name did the model most likely mean?
-- param: since, until, model, tool, min_calls

SELECT
    tool_label(tool_namespace, tool_name) AS called,
    nearest_tool AS nearest_declared,
    count(*) AS calls,
    count(DISTINCT model) AS models,
    min(created_at) AS first_made,
    max(created_at) AS last_made
FROM calls AS c
WHERE state = 'unknown-tool'
    AND made_between(created_at, $since, $until)
    AND matches(model, $model)
    AND matches(tool_label(tool_namespace, tool_name), $tool)
GROUP BY called, nearest_declared
HAVING calls >= $min_calls
ORDER BY calls DESC, called, nearest_declared
