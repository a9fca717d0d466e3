-- Latency by hour and method, in microseconds. Percentiles are of nearest rank.
WITH counted AS (
    SELECT date_trunc('hour', time) AS hour, service, method, latency_micros AS micros, COUNT(*) AS same
    FROM calls
    WHERE latency_micros IS NOT NULL
    GROUP BY date_trunc('hour', time), service, method, latency_micros
),
ranked AS (
    SELECT hour, service, method, micros, same,
        SUM(same) OVER (PARTITION BY hour, service, method ORDER BY micros) AS upto,
        SUM(same) OVER (PARTITION BY hour, service, method) AS n
    FROM counted
)
SELECT hour, service, method,
    SUM(same) AS calls,
    MIN(micros) AS fastest,
    MIN(CASE WHEN upto * 100 >= n * 50 THEN micros END) AS p50,
    MIN(CASE WHEN upto * 100 >= n * 99 THEN micros END) AS p99,
    MAX(micros) AS slowest
FROM ranked
GROUP BY hour, service, method
ORDER BY hour, service, method
