package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit"
)

// Every text, number and boolean of a JSON record is in CSV, too, and nothing else is.
func TestColumns(t *testing.T) {
	for _, name := range []string{"triple-gzip-3.2.16.pcap.zst", "grpc-go-1.72.0.pcap.zst", "exhausted.pcap.zst"} {
		for _, command := range []string{"frames", "calls"} {
			t.Run(command+" "+name, func(t *testing.T) {
				file := capturePath(name)
				lines := strings.Split(strings.TrimSuffix(must(t, command, file, "--format", "jsonl"), "\n"), "\n")
				rows, err := csv.NewReader(strings.NewReader(must(t, command, file, "--format", "csv"))).ReadAll()
				require.NoError(t, err)
				require.Len(t, rows, len(lines)+1)
				for i, line := range lines {
					var record map[string]any
					d := json.NewDecoder(strings.NewReader(line))
					d.UseNumber()
					require.NoError(t, d.Decode(&record))
					if e, ok := record["exception"].(map[string]any); ok && e["message"] != nil {
						record["errorMessage"] = e["message"]
					}
					for k, column := range rows[0] {
						want := ""
						switch v := record[column].(type) {
						case nil:
						case []any:
							var all []string
							for _, x := range v {
								all = append(all, fmt.Sprint(x))
							}
							want = strings.Join(all, ",")
						default:
							want = fmt.Sprint(v)
						}
						assert.Equal(t, want, rows[i+1][k], "%s of record %d", column, i)
						delete(record, column)
					}
					for column, v := range record {
						switch v.(type) {
						case string, json.Number, bool:
							assert.Contains(t, []string{"headerSerialization", "responseHeaderSerialization", "requestStatus", "result"}, column, "record %d has %v, and CSV has no column for it", i, v)
						}
					}
				}
			})
		}
	}
}
