-- Failed calls by cause.
SELECT error, service, method, COUNT(*) AS calls, MIN(time) AS earliest, MAX(time) AS latest
FROM calls
WHERE error IS NOT NULL
GROUP BY error, service, method
ORDER BY calls DESC, error, service, method
