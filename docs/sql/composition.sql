-- What the bytes of complete bodies are for, by method.
SELECT protocol, serialization, service, method,
    SUM(CASE WHEN request_complete THEN request_values_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_values_bytes ELSE 0 END) AS values_bytes,
    SUM(CASE WHEN request_complete THEN request_names_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_names_bytes ELSE 0 END) AS names_bytes,
    SUM(CASE WHEN request_complete THEN request_attachments_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_attachments_bytes ELSE 0 END) AS attachments_bytes,
    SUM(CASE WHEN request_complete THEN request_envelope_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_envelope_bytes ELSE 0 END) AS envelope_bytes,
    SUM(CASE WHEN request_complete THEN request_overhead_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_overhead_bytes ELSE 0 END) AS overhead_bytes,
    SUM(CASE WHEN request_complete THEN request_opaque_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_opaque_bytes ELSE 0 END) AS opaque_bytes,
    SUM(CASE WHEN request_complete THEN request_compressed_bytes ELSE 0 END) + SUM(CASE WHEN response_complete THEN response_compressed_bytes ELSE 0 END) AS compressed_bytes
FROM calls
GROUP BY protocol, serialization, service, method
ORDER BY protocol, serialization, service, method
