package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/exit"
)

// What --redact prints of a call holds none of its values, has the same members, and says of each value what it is.
func TestRedact(t *testing.T) {
	names := []string{
		"edge-hessian2", "edge-hessian2-2.5.3", "edge-hessian2-3.3.6", "edge-native-hessian", "edge-java", "edge-compactedjava",
		"edge-dubbo-2.5.3", "edge-json-2.5.3", "edge-fastjson", "edge-gson", "edge-jackson-3.2.16", "edge-fastjson2-3.3.6",
		"edge-msgpack", "edge-smartbuf", "protobuf-2.7.23", "protobuf-json-2.7.23", "edge-kryo",
	}
	if testing.Short() {
		names = names[:3]
	}
	for _, name := range names {
		file := capturePath(name + ".pcap.zst")
		plain := callRecords(t, "calls", file, "--format", "jsonl")
		redacted := callRecords(t, "calls", file, "--format", "jsonl", "--redact")
		require.Len(t, redacted, len(plain), name)
		found := 0
		for i, p := range plain {
			r := redacted[i]
			texts := map[string]bool{}
			for _, member := range []string{"arguments", "result", "attachments", "responseAttachments"} {
				secrets(p[member], texts)
				assert.Equal(t, p[member] == nil, r[member] == nil, "%s call %d: %s", name, i, member)
			}
			if e, ok := p["exception"].(map[string]any); ok {
				assert.Equal(t, e["class"], r["exception"].(map[string]any)["class"])
				if m, ok := e["message"].(string); ok && len(m) >= minSecret {
					texts[m] = true
				}
			}
			line, err := json.Marshal([]any{r["arguments"], r["result"], r["attachments"], r["responseAttachments"], r["exception"]})
			require.NoError(t, err)
			for s := range texts {
				q, _ := json.Marshal(s)
				if strings.Contains(string(line), `"@class":`+string(q)) || strings.Contains(string(line), `"@enum":`+string(q)) {
					continue // the name of a class, which is passed as a value, too
				}
				assert.False(t, strings.Contains(string(line), string(q)), "%s call %d: %.200s", name, i, q)
				found++
			}
			for _, member := range []string{"service", "method", "state", "requestBodyBytes", "responseBodyBytes", "error"} {
				assert.Equal(t, p[member], r[member], "%s call %d: %s", name, i, member)
			}
		}
		assert.Greater(t, found, 100, "%s: so few texts prove nothing", name)
	}
	var stderr bytes.Buffer
	code := run([]string{"calls", filepath.Join("..", "..", "testdata", "captures", "bid-plain.pcap"), "--redact", "--no-values"}, nil, nil, &stderr)
	assert.Equal(t, exit.Usage, code)
	assert.Contains(t, stderr.String(), "--no-values")
}

// Shorter texts may be those of names by chance.
const minSecret = 12

func callRecords(t *testing.T, args ...string) (records []map[string]any) {
	var out, stderr bytes.Buffer
	require.Equal(t, exit.Done, run(args, nil, &out, &stderr), stderr.String())
	for d := json.NewDecoder(&out); d.More(); {
		var r map[string]any
		require.NoError(t, d.Decode(&r))
		records = append(records, r)
	}
	return records
}

// secrets collects the texts of values, and the keys of maps where they are values.
func secrets(v any, into map[string]bool) {
	switch v := v.(type) {
	case string:
		if len(v) >= minSecret {
			into[v] = true
		}
	case []any:
		for _, e := range v {
			secrets(e, into)
		}
	case map[string]any:
		for k, e := range v {
			switch k {
			case "@class", "@ref":
			case "@enum", "name":
				if v["@enum"] == nil {
					secrets(e, into)
				}
			default:
				secrets(e, into)
			}
		}
	}
}
