-- Methods that were called in two serializations: mean bodies of their complete requests and complete successful responses. The second serialization is the
-- one that comes later in the alphabet.
WITH means AS (
    SELECT service, method, serialization,
        COUNT(*) AS calls,
        AVG(CASE WHEN request_complete THEN request_body_bytes END) AS request_mean,
        AVG(CASE WHEN response_complete AND outcome = 'ok' THEN response_body_bytes END) AS response_mean
    FROM calls
    WHERE service <> '?' AND method <> '?'
    GROUP BY service, method, serialization
)
SELECT a.service AS service, a.method AS method,
    a.serialization AS one, b.serialization AS other,
    a.calls AS calls_one, b.calls AS calls_other,
    a.request_mean AS request_one, b.request_mean AS request_other,
    a.response_mean AS response_one, b.response_mean AS response_other
FROM means a
JOIN means b ON a.service = b.service AND a.method = b.method
WHERE a.serialization < b.serialization
ORDER BY service, method, one, other
