-- Who talks to whom.
SELECT client_ip, server_ip, server_port, protocol, serialization,
    COUNT(*) AS calls,
    SUM(CASE WHEN error IS NOT NULL THEN 1 ELSE 0 END) AS errors,
    SUM(CASE WHEN request_complete THEN request_wire_bytes ELSE 0 END) AS sent_bytes,
    SUM(CASE WHEN response_complete THEN response_wire_bytes ELSE 0 END) AS answered_bytes
FROM calls
GROUP BY client_ip, server_ip, server_port, protocol, serialization
ORDER BY client_ip, server_ip, server_port, protocol, serialization
