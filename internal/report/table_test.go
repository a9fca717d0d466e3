package report_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
)

// golden compares with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	testkit.Golden(t, filepath.Join("testdata", name), got)
}

func write(t *testing.T, r *report.Report, format string, s report.Style) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, r.Write(&b, format, s))
	return b.String()
}

func TestAnalyzeGolden(t *testing.T) {
	for _, c := range []struct {
		name   string
		report *report.Report
		format string
		style  report.Style
	}{
		{"shop-80.txt", shop(t, ""), "table", report.Style{Width: 80}},
		{"shop-160.txt", shop(t, ""), "table", report.Style{Width: 160}},
		{"shop.txt", shop(t, ""), "table", report.Style{}},
		{"shop-exact.txt", shop(t, ""), "table", report.Style{Exact: true, Top: 3}},
		{"shop.md", shop(t, ""), "markdown", report.Style{}},
		{"shop.csv", shop(t, ""), "csv", report.Style{}},
		{"shop-service-80.txt", shop(t, "service,client"), "table", report.Style{Width: 80, Top: 2}},
		{"shop-time-80.txt", shop(t, "time:1s"), "table", report.Style{Width: 80}},
		{"bid-80.txt", bid(t), "table", report.Style{Width: 80}},
		{"empty-80.txt", empty(t), "table", report.Style{Width: 80}},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, write(t, c.report, c.format, c.style)) })
	}
}

// No line is wider than the terminal, whatever is grouped; no control character reaches it.
func TestWidth(t *testing.T) {
	for _, by := range []string{
		"", "service", "method", "client,server", "service,method,version,client,server,connection,status",
		"input,time:10s,serialization", "protocol,serialization",
	} {
		for _, width := range []int{72, 80, 100, 120, 160, 250} {
			for _, exact := range []bool{false, true} {
				text := write(t, shop(t, by), "table", report.Style{Width: width, Exact: exact})
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					assert.LessOrEqual(t, uniseg.StringWidth(line), width, "--by %q at %d: %s", by, width, line)
					assert.Equal(t, strings.TrimRight(line, " "), line)
					assert.NotContains(t, line, "\x1b")
				}
			}
		}
	}
}

func TestColorIsOnlyHeadings(t *testing.T) {
	plain := write(t, shop(t, ""), "table", report.Style{Width: 80})
	colored := write(t, shop(t, ""), "table", report.Style{Width: 80, Color: true})
	assert.NotEqual(t, plain, colored)
	assert.Equal(t, plain, strings.NewReplacer("\x1b[1m", "", "\x1b[0m", "").Replace(colored))
}

// What a table adds up, adds up: bytes and shares on the wire to "all", those of a ranking with its rest to 100 %.
func TestRowsAddUp(t *testing.T) {
	r := shop(t, "")
	text := write(t, r, "markdown", report.Style{Exact: true, Top: 3})
	number := func(s string) float64 {
		f, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", ""), 64)
		require.NoError(t, err)
		return f
	}
	column := func(section, name string) (cells []string) {
		at := -1
		for line := range strings.Lines(text[strings.Index(text, "## "+section):]) {
			row := strings.Split(line, " | ")
			switch {
			case strings.HasPrefix(line, "| ---"):
			case at < 0 && strings.HasPrefix(line, "|"):
				at = indexOf(t, row, name)
			case strings.HasPrefix(line, "|"):
				cells = append(cells, row[at])
			case at >= 0:
				return cells
			}
		}
		return cells
	}
	sum := func(cells []string) (f float64) {
		for _, c := range cells {
			f += number(c)
		}
		return f
	}
	wire := column("ON THE WIRE", "bytes")
	require.Len(t, wire, 5)
	assert.InDelta(t, number(wire[4]), sum(wire[:4]), 0)
	assert.InDelta(t, r.Totals.LinkBytes, number(wire[4]), 0)
	assert.InDelta(t, 100, sum(column("ON THE WIRE", "share %")[:4]), 0.01)
	assert.InDelta(t, r.Selected.WireBytes(), sum(column("BY SERIALIZATION", "on the wire bytes")), 0)
	assert.InDelta(t, r.Selected.Calls, sum(column("BY SERIALIZATION", "calls")), 0)
	assert.InDelta(t, 100, sum(column("METHODS", "on the wire %")), 0.01)
	assert.InDelta(t, r.Selected.WireBytes(), sum(column("METHODS", "on the wire bytes")), 0)
	assert.InDelta(t, r.Selected.Calls, sum(column("METHODS", "calls count")), 0)
	cumulative := column("METHODS", "on the wire cum %")
	assert.Equal(t, "100.000", cumulative[len(cumulative)-1])
}

// CSV has every group in full, and its sums are the report's.
func TestCSVAddsUp(t *testing.T) {
	r := shop(t, "")
	rows, err := csv.NewReader(strings.NewReader(write(t, r, "csv", report.Style{}))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, len(r.Groups)+1)
	sum := func(name string) int64 {
		i := indexOf(t, rows[0], name)
		n := int64(0)
		for _, row := range rows[1:] {
			v, err := strconv.ParseInt(row[i], 10, 64)
			require.NoError(t, err)
			n += v
		}
		return n
	}
	assert.Equal(t, r.Selected.Calls, sum("calls"))
	assert.Equal(t, r.Selected.OneWay, sum("oneWay"))
	assert.Equal(t, r.Selected.Errors, sum("errors"))
	assert.Equal(t, r.Selected.Exceptions, sum("exceptions"))
	assert.Equal(t, r.Selected.Unanswered, sum("unanswered"))
	assert.Equal(t, r.Selected.Request.Body.Total, sum("request.bodyBytes.total"))
	assert.Equal(t, r.Selected.Response().Frame.Total, sum("response.frameBytes.total"))
	assert.Equal(t, r.Totals.RPCBytes-r.Totals.EventBytes-r.Totals.IncompleteBytes,
		sum("request.wireBytes.total")+sum("response.wireBytes.total"))
	service := indexOf(t, rows[0], "service")
	var names []string
	for _, row := range rows[1:] {
		names = append(names, row[service])
	}
	assert.Contains(t, names, "evil|name\x1b[31m\n", "values are not changed")
}

// Each text and number of a group in JSON is a column of CSV with the same value, but for what only JSON has.
func TestCSVHasMembersOfJSON(t *testing.T) {
	r := shop(t, "")
	var b bytes.Buffer
	require.NoError(t, r.WriteJSON(&b, false))
	var have struct{ Groups []map[string]any }
	d := json.NewDecoder(&b)
	d.UseNumber()
	require.NoError(t, d.Decode(&have))
	rows, err := csv.NewReader(strings.NewReader(write(t, r, "csv", report.Style{}))).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, len(have.Groups)+1)
	seen := make(map[string]bool)
	for i, g := range have.Groups {
		var members func(prefix string, of map[string]any)
		members = func(prefix string, of map[string]any) {
			for name, v := range of {
				switch v := v.(type) {
				case map[string]any:
					members(prefix+name+".", v)
				case string, json.Number:
					if name != "statusUnknown" && name != "answeredInOther" && name != "uncompressedCount" {
						seen[prefix+name] = true
						assert.Equal(t, fmt.Sprint(v), rows[i+1][indexOf(t, rows[0], prefix+name)], "group %d, %s", i, prefix+name)
					}
				}
			}
		}
		members("", g)
	}
	assert.Greater(t, len(seen), 60, "%d groups", len(have.Groups))
}

func indexOf(t *testing.T, names []string, name string) int {
	t.Helper()
	for i, n := range names {
		if n == name {
			return i
		}
	}
	require.Fail(t, "no column "+name)
	return -1
}

// The rest of a ranking stands for all groups that are not shown, those beyond the limit among them.
func TestRestRow(t *testing.T) {
	r := newRun(t, "", 5)
	for i := range 9 {
		r.call(0, "hessian2", "a.Service", "m"+strconv.Itoa(i), 100, 100, 1e6, answer{})
	}
	text := write(t, r.report(t, "", 1), "table", report.Style{Top: 2})
	assert.Contains(t, text, "3 more (--top 5), 4 groups beyond --max-groups")
	golden(t, "rest.txt", text)
}

func TestFrameTable(t *testing.T) {
	for _, c := range []struct {
		name, format string
		style        report.Style
	}{
		{"frames-80.txt", "table", report.Style{Width: 80}},
		{"frames.txt", "table", report.Style{}},
		{"frames.md", "markdown", report.Style{}},
		{"frames.csv", "csv", report.Style{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			table, err := report.NewFrameTable(&b, c.format, c.style, []string{"trace.pcap"})
			require.NoError(t, err)
			for _, row := range frames() {
				require.NoError(t, table.Row(row))
			}
			require.NoError(t, table.Close())
			golden(t, c.name, b.String())
			checkRows(t, b.String(), c.format, c.style.Width, len(frames()))
		})
	}
}

// A message without a body is in no serialization; of one whose body was not captured it is unknown.
func TestNoBody(t *testing.T) {
	for _, c := range []struct {
		bodyLen  int
		complete bool
		name     string
	}{{0, true, "-"}, {0, false, "?"}, {5, false, "?"}} {
		row := *frames()[0]
		m := *row.Msg
		m.Serialization, m.SerializationID, m.BodyLen, m.Complete = "", rpc.NoSerialization, c.bodyLen, c.complete
		row.Msg = &m
		var b bytes.Buffer
		table, err := report.NewFrameTable(&b, "markdown", report.Style{}, []string{"trace.pcap"})
		require.NoError(t, err)
		require.NoError(t, table.Row(&row))
		require.NoError(t, table.Close())
		assert.Contains(t, b.String(), "| "+c.name+" |")
		records := report.Frames{Inputs: []string{"trace.pcap"}}
		assert.Equal(t, c.name == "?", strings.Contains(string(records.AppendJSON(nil, &row)), `"serialization":"?"`))
		assert.Equal(t, c.name == "?", strings.Contains(string(records.AppendJSON(nil, &row)), `"serialization":`))
	}
}

func TestCallTable(t *testing.T) {
	for _, c := range []struct {
		name, format string
		style        report.Style
	}{
		{"calls-80.txt", "table", report.Style{Width: 80}},
		{"calls.txt", "table", report.Style{}},
		{"calls.md", "markdown", report.Style{}},
		{"calls.csv", "csv", report.Style{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			table, err := report.NewCallTable(&b, c.format, c.style, report.Calls{Inputs: []string{"trace.pcap"}})
			require.NoError(t, err)
			r := newRun(t, "", 0)
			r.calls = append(r.calls, func(c *call.Call) { require.NoError(t, table.Row(c)) })
			r.call(0, "hessian2", "com.acme.order.OrderQuery", "listByBuyer", 402, 1_051_204, 80e6, answer{})
			r.call(1, "hessian2", "com.acme.订单.订单服务", "按买家查询", 300, 1_000, 2e6, answer{})
			r.call(0, "kryo", "com.acme.audit.AuditLog", "write", 512, 0, 0, answer{oneWay: true})
			r.call(0, "hessian2", "com.acme.pay.PayService", "refund", 260, 1_900, 30e6, answer{class: "com.acme.pay.Refused", text: "limit\nat x"})
			r.call(0, "hessian2", "com.acme.pay.PayService", "capture", 260, 90, 1_200e6, answer{status: 31, text: "timeout"})
			r.call(0, "", "", "", 77, 20, 1e6, answer{})
			r.call(0, "hessian2", "com.acme.pay.PayService", "slow", 260, 0, 0, answer{none: true})
			r.pairer.End()
			require.NoError(t, table.Close())
			golden(t, c.name, b.String())
			checkRows(t, b.String(), c.format, c.style.Width, 7)
		})
	}
}

// checkRows checks what holds of every table: width, and that CSV is a table.
func checkRows(t *testing.T, text, format string, width, rows int) {
	t.Helper()
	if format == "csv" {
		parsed, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		require.NoError(t, err)
		assert.Len(t, parsed, rows+1)
		return
	}
	assert.NotContains(t, text, "\x1b")
	for line := range strings.Lines(text) {
		if width > 0 {
			assert.LessOrEqual(t, uniseg.StringWidth(strings.TrimSuffix(line, "\n")), width, line)
		}
	}
}

// An empty table is not an error, and CSV still has its header.
func TestEmptyTables(t *testing.T) {
	var b bytes.Buffer
	table, err := report.NewFrameTable(&b, "csv", report.Style{}, nil)
	require.NoError(t, err)
	require.NoError(t, table.Close())
	assert.True(t, strings.HasPrefix(b.String(), "frame,file,time,"))
	_, err = report.NewCallTable(&b, "html", report.Style{}, report.Calls{})
	assert.Error(t, err)
	assert.Error(t, bid(t).Write(&b, "html", report.Style{}))
}

func TestFormats(t *testing.T) {
	formats := []decode.Format{
		{ID: 8, Name: "kryo", Depth: decode.DepthEnvelope, Releases: "2.6.0 to 2.7.23", Capture: "kryo.pcap.zst"},
		{ID: 2, Name: "hessian2", Depth: decode.DepthFull, Releases: "all", Capture: "hessian2.pcap.zst"},
	}
	protocols := []*rpc.Protocol{
		{Name: "dubbo", Numbered: true, Read: "frames, bodies", RecognisedBy: "the bytes da bb", Releases: "all", Capture: "hessian2.pcap.zst"},
		{Name: "tls", Read: "recognised", RecognisedBy: "a record"},
	}
	for name, format := range map[string]string{"formats-80.txt": "table", "formats.md": "markdown", "formats.csv": "csv", "formats.json": "json"} {
		var b bytes.Buffer
		style := report.Style{}
		if format == "table" {
			style.Width = 80
		}
		require.NoError(t, report.WriteFormats(&b, format, protocols, formats, style))
		golden(t, name, b.String())
	}
	assert.Equal(t, uint8(8), formats[0].ID, "the list is the caller's")
	assert.Error(t, report.WriteFormats(&bytes.Buffer{}, "html", protocols, formats, report.Style{}))
}

// A list prints the same rows in every format.
func TestList(t *testing.T) {
	l := report.List{
		Summary: "1 port", Title: "PORTS", Columns: []report.ListColumn{{Key: "port"}, {Key: "calls", Column: report.Column{Right: true}}, {Key: "name", Column: report.Column{Name: "known as"}, Empty: "none"}},
		Rows: [][]any{{"20880", 12345, ""}}, Notes: []string{"A note."},
	}
	for format, want := range map[string]string{
		"table":    "1 port\n\nPORTS\n  port    calls  known as\n  20880  12,345  none\n  A note.\n",
		"markdown": "1 port\n\n## PORTS\n\n| port | calls | known as |\n| --- | ---: | --- |\n| 20880 | 12,345 | none |\n\nA note.\n",
		"csv":      "port,calls,name\n20880,12345,\n",
		"json":     "[\n {\n  \"port\": \"20880\",\n  \"calls\": 12345,\n  \"name\": \"\"\n }\n]\n",
	} {
		var b bytes.Buffer
		require.NoError(t, l.Write(&b, format, report.Style{}))
		assert.Equal(t, want, b.String(), format)
	}
	assert.Error(t, l.Write(&bytes.Buffer{}, "html", report.Style{}))
}

// The head of a report with very many methods takes time in proportion to their number, wherever the heaviest one is.
func TestHeadOfManyMethods(t *testing.T) {
	const methods = 30_000
	run := newRun(t, "service,method", 0)
	for i := range methods {
		run.call(1, "hessian2", "com.acme.OrderQuery", fmt.Sprintf("m%05d", i), 100, 100+i, 1e6, answer{})
	}
	text := write(t, run.report(t, "service,method", 60), "table", report.Style{Width: 100, Sections: []string{"head"}})
	assert.Contains(t, text, "OrderQuery/m29999")
	assert.Contains(t, text, "30,000 calls")
}
