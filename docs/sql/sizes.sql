-- The size table: bodies of complete requests and of complete successful responses by serialization and method.
-- Percentiles are of nearest rank, exact; those of dubbo-wire are within 1 %. Calls of several messages have one size each way, their sum.
WITH sizes AS (
    SELECT protocol, serialization, service, method, 'request' AS direction, request_body_bytes AS bytes
    FROM calls
    WHERE request_complete
    UNION ALL
    SELECT protocol, serialization, service, method, 'response' AS direction, response_body_bytes AS bytes
    FROM calls
    WHERE response_complete AND outcome = 'ok'
),
counted AS (
    SELECT protocol, serialization, service, method, direction, bytes, COUNT(*) AS same
    FROM sizes
    GROUP BY protocol, serialization, service, method, direction, bytes
),
ranked AS (
    SELECT protocol, serialization, service, method, direction, bytes, same,
        SUM(same) OVER (PARTITION BY protocol, serialization, service, method, direction ORDER BY bytes) AS upto,
        SUM(same) OVER (PARTITION BY protocol, serialization, service, method, direction) AS n
    FROM counted
)
SELECT protocol, serialization, service, method, direction,
    SUM(same) AS messages,
    SUM(bytes * same) AS total,
    SUM(bytes * same) / SUM(same) AS mean,
    MIN(bytes) AS smallest,
    MIN(CASE WHEN upto * 100 >= n * 50 THEN bytes END) AS p50,
    MIN(CASE WHEN upto * 100 >= n * 90 THEN bytes END) AS p90,
    MIN(CASE WHEN upto * 100 >= n * 99 THEN bytes END) AS p99,
    MAX(bytes) AS largest
FROM ranked
GROUP BY protocol, serialization, service, method, direction
ORDER BY protocol, serialization, service, method, direction
