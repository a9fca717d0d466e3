-- Which methods use the link: bytes of complete messages with all headers and retransmissions.
SELECT protocol, serialization, service, method,
    COUNT(*) AS calls,
    SUM(CASE WHEN request_complete THEN request_wire_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_wire_bytes ELSE 0 END) AS wire_bytes,
    SUM(CASE WHEN request_complete THEN request_body_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_body_bytes ELSE 0 END) AS body_bytes
FROM calls
GROUP BY protocol, serialization, service, method
ORDER BY wire_bytes DESC, protocol, serialization, service, method
