package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
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
				columnsAgree(t, records(t, must(t, command, file, "--format", "jsonl")), must(t, command, file, "--format", "csv"))
			})
		}
	}
}

// The text of an error is the same in the records of its frame and of its call.
func TestErrorTexts(t *testing.T) {
	for _, name := range []string{"triple-hessian2-3.0.15.pcap.zst", "triple-hessian2-3.3.6.pcap.zst", "exhausted.pcap.zst", "thrift-2.6.12.pcap.zst"} {
		file, texts, compared := capturePath(name), map[any]any{}, 0
		for _, f := range records(t, must(t, "frames", file, "--format", "jsonl")) {
			texts[f["frame"]] = f["errorMessage"]
		}
		for _, c := range records(t, must(t, "calls", file, "--format", "jsonl")) {
			e, failed := c["exception"].(map[string]any)
			if text := texts[c["responseFrame"]]; failed && text != nil { // a stream may fail after other frames
				assert.Equal(t, e["message"], text, "%s, frame %v", name, c["responseFrame"])
				compared++
			}
		}
		assert.Positive(t, compared, name)
	}
}

// recordsAgree checks records without values, which are made from bodies that are counted, against those with values, which are made from trees.
func recordsAgree(t *testing.T, p *printed) {
	full := p.must(t, "calls", "--format", "jsonl")
	all := records(t, full)
	columnsAgree(t, all, p.must(t, "calls", "--format", "csv"))
	lines := strings.Split(strings.TrimSuffix(p.must(t, "calls", "--format", "jsonl", "--no-values"), "\n"), "\n")
	for i, want := range all {
		for _, name := range []string{"arguments", "attachments", "result", "responseAttachments"} {
			delete(want, name)
		}
		if e, ok := want["exception"].(map[string]any); ok {
			delete(e, "message")
		}
		require.Equal(t, want, records(t, lines[i])[0], "record %d", i)
	}
}

// records decodes lines of JSON.
func records(t *testing.T, jsonl string) (all []map[string]any) {
	for line := range strings.Lines(jsonl) {
		var record map[string]any
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		require.NoError(t, d.Decode(&record), line)
		all = append(all, record)
	}
	return all
}

// columnsAgree checks the rows of CSV against the records of JSON.
func columnsAgree(t *testing.T, all []map[string]any, table string) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, len(all)+1)
	for i, record := range all {
		record = maps.Clone(record)
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
}
