package report_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// What bytes are for is printed by serialization in tables, by group in JSON and CSV, and not at all unless bodies were
// taken apart.
func TestParts(t *testing.T) {
	run := newRun(t, "", 0)
	run.call(0, "hessian2", "org.example.Service", "find", 60, 40, 1e6, answer{})
	run.call(0, "hessian2", "org.example.Service", "save", 30, 20, 1e6, answer{})
	run.call(0, "kryo", "org.example.Service", "save", 10, 10, 1e6, answer{})
	groups := run.groups.Groups()
	require.Len(t, groups, 3)
	for _, g := range groups {
		all := g.Request.Body.Total + g.Response().Body.Total
		g.SetParts(&sizes.ClassBytes{decode.ClassValues: all * 7 / 10, decode.ClassOpaque: all * 3 / 10})
	}
	r := run.report(t, "", 1)
	print := func(format string) string {
		var b bytes.Buffer
		if format == "json" {
			require.NoError(t, r.WriteJSON(&b, false))
		} else {
			require.NoError(t, r.Write(&b, format, report.Style{Width: 120}))
		}
		return b.String()
	}
	for _, format := range []string{"json", "csv", "table", "markdown"} {
		assert.NotContains(t, print(format), "opaque", format)
	}
	r.Parts = true
	assert.Contains(t, print("table"), "BODY COMPOSITION")
	assert.Regexp(t, `dubbo/hessian2 +150 B +70.0 +0.0 +0.0 +0.0 +0.0 +30.0\n`, print("table"))
	assert.Regexp(t, `dubbo/kryo +20 B +70.0 +0.0 +0.0 +0.0 +0.0 +30.0\n`, print("table"))
	assert.Contains(t, print("csv"), ",parts.values,parts.names,parts.attachments,parts.envelope,parts.overhead,parts.opaque,")
	assert.Contains(t, print("csv"), ",70,0,0,0,0,30,")
	var got struct {
		Groups []struct {
			Parts []struct {
				Path  string
				Bytes int64
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(print("json")), &got))
	require.Len(t, got.Groups[0].Parts, 6)
	assert.Equal(t, "values", got.Groups[0].Parts[0].Path)
	assert.EqualValues(t, 70, got.Groups[0].Parts[0].Bytes)
	assert.Equal(t, "opaque", got.Groups[0].Parts[5].Path)
	assert.EqualValues(t, 30, got.Groups[0].Parts[5].Bytes)
}
