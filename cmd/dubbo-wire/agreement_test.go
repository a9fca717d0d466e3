package main

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/report"
)

// What is printed of one capture must agree, however it is printed, filtered and cut into files. TestCaptures
// checks these functions on captures.

func formatsAgree(t *testing.T, p *printed) {
	r, err := parseReport([]byte(p.must(t, "analyze", "--format", "json")))
	require.NoError(t, err)
	require.NoError(t, r.balance())
	require.Equal(t, "dubbo-wire/report/1", r.Schema)
	require.Equal(t, p.Packets, r.Inputs[0].Packets)
	calls, wire := int64(0), int64(0)
	for i := range r.Groups {
		calls += r.Groups[i].Calls
		wire += int64(r.Groups[i].Request.WireBytes.Total + r.Groups[i].Response.WireBytes.Total)
	}

	texts := p.together(t, []string{"csv", "md", "txt"}, "analyze", "--exact", "--top", "1000000")
	rows := parseCSV(t, texts[0])
	require.Len(t, rows, len(r.Groups))
	require.Equal(t, calls, sum(t, rows, "calls"))
	require.Equal(t, wire, sum(t, rows, "request.wireBytes.total")+sum(t, rows, "response.wireBytes.total"))
	for i, row := range rows {
		g := &r.Groups[i]
		require.Equal(t, strconv.FormatInt(g.Calls, 10), row["calls"])
		require.Equal(t, strconv.FormatInt(g.Errors, 10), row["errors"])
		require.Equal(t, strconv.FormatFloat(g.Request.BodyBytes.Total, 'f', -1, 64), row["request.bodyBytes.total"])
		require.Equal(t, strconv.FormatFloat(g.Response.FrameBytes.Total, 'f', -1, 64), row["response.frameBytes.total"])
	}

	md := parseMarkdown(texts[1])
	onTheWire := md["ON THE WIRE"]
	require.Equal(t, r.Wire.LinkBytes, number(t, onTheWire[len(onTheWire)-1][1]))
	require.Equal(t, r.Wire.RPCBytes, number(t, onTheWire[1][1]))
	parts := int64(0)
	for _, row := range onTheWire[1 : len(onTheWire)-1] {
		parts += number(t, row[1])
	}
	require.Equal(t, r.Wire.LinkBytes, parts)
	for title, names := range map[string][2]string{
		"BY SERIALIZATION": {"calls", "on the wire bytes"},
		"METHODS":          {"calls count", "on the wire bytes"},
	} {
		// The rows of failed calls are part of the row above.
		table := slices.DeleteFunc(slices.Clone(md[title]), func(row []string) bool { return strings.TrimSpace(row[0]) == "failed calls" })
		require.Equal(t, calls, column(t, table, names[0]), title)
		require.Equal(t, wire, column(t, table, names[1]), title)
	}

	// The table for terminals has the same words in the same order.
	text, at := texts[2], 0
	for _, row := range slices.Concat(md["BY SERIALIZATION"][1:], onTheWire[1:]) {
		for _, cell := range row[:min(len(row), 4)] {
			i := strings.Index(text[at:], unescape(cell))
			require.GreaterOrEqual(t, i, 0, "%q is not in its place in\n%s", cell, text)
			at += i
		}
	}
}

func parseCSV(t *testing.T, text string) []map[string]string {
	all, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(t, err)
	var rows []map[string]string
	for _, record := range all[1:] {
		row := make(map[string]string)
		for i, name := range all[0] {
			row[name] = record[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func sum(t *testing.T, rows []map[string]string, name string) int64 {
	n := int64(0)
	for _, row := range rows {
		n += number(t, row[name])
	}
	return n
}

func number(t *testing.T, s string) int64 {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
	require.NoError(t, err)
	return n
}

// parseMarkdown returns the rows of tables by the first word of their headings; the first row has the names.
func parseMarkdown(text string) map[string][][]string {
	tables := make(map[string][][]string)
	title := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			title, _, _ = strings.Cut(line[3:], ",")
		case strings.HasPrefix(line, "| ---"):
		case strings.HasPrefix(line, "|"):
			var cells []string
			for _, c := range strings.Split(strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00"), "|") {
				cells = append(cells, strings.TrimSpace(strings.ReplaceAll(c, "\x00", `\|`)))
			}
			tables[title] = append(tables[title], cells)
		}
	}
	return tables
}

func column(t *testing.T, table [][]string, name string) int64 {
	at := slices.Index(table[0], name)
	require.GreaterOrEqual(t, at, 0, "%s is not among %q", name, table[0])
	n := int64(0)
	for _, row := range table[1:] {
		n += number(t, row[at])
	}
	return n
}

func unescape(cell string) string {
	return strings.NewReplacer("&lt;", "<", "&amp;", "&", `\`, "").Replace(cell)
}

// Tables are as wide as they may be: lists of a capture in 80 columns, and its reports in three widths, for which it is read once. That
// COLUMNS is the width of a report, too, TestVeryNarrow has.
func TestTablesFitTheirWidth(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	fits(t, must(t, "formats"), 80)
	for _, c := range testkit.Captures() {
		if c.Foreign() || !c.Left(50) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			fits(t, must(t, "frames", c.Path()), 80)
			fits(t, must(t, "calls", c.Path()), 80)
			for _, by := range []string{"", "client,server,version", "service,method,status,time:1s"} {
				var a analyzeFlags
				a.add(new(cobra.Command), "table")
				a.by = by
				cfg, p, err := a.complete()
				require.NoError(t, err)
				in := measure.Input{Filter: cfg.Filter, NoProgress: true}
				files, err := in.OpenAny([]string{c.Path()})
				require.NoError(t, err)
				defer files.Close()
				cfg.Formats = []string{"table"}
				r, readErr, err := files.Report(cfg)
				require.NoError(t, err)
				require.NoError(t, readErr)
				r.SortBy(p.Sort)
				for _, columns := range []int{60, 80, 120} {
					for _, exact := range []bool{false, true} {
						var table strings.Builder
						require.NoError(t, r.Write(&table, "table", report.Style{Width: columns, Exact: exact, Explain: explainCommand([]string{c.Path()})}))
						fits(t, table.String(), columns)
						require.LessOrEqual(t, strings.Count(headOf(table.String()), "\n"), 8, "at %d", columns)
					}
				}
			}
		})
	}
}

// fits checks that no line is longer than the columns that a text may have. Commands are not wrapped, so that they can be copied.
func fits(t *testing.T, text string, columns int) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(strings.TrimSpace(line), "dubbo-wire ") {
			require.LessOrEqual(t, uniseg.StringWidth(line), columns, line)
		}
	}
}

// TestVeryNarrow: no terminal is too narrow to print something.
func TestVeryNarrow(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	for _, columns := range []int{1, 2, 5, 8, 13, 20, 31, 40, 50} {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		for _, file := range []string{capturePath("mixed.pcap.zst"), capturePath("loss.pcap.zst")} {
			must(t, "analyze", file, "--exact")
			must(t, "analyze", file, "--by", "client,server,version,method,time:1s")
			must(t, "frames", file)
			must(t, "calls", file)
		}
		must(t, "formats")
	}
}

// frameRecord is what these tests read of a frame.
type frameRecord struct {
	Frame                  int64
	Kind, Protocol         string
	HeaderBytes, BodyBytes int64
	Complete               bool
	Parts                  []partBytes
}

// addUp checks that the parts are all bytes of the frame.
func (f *frameRecord) addUp(t *testing.T) {
	t.Helper()
	parts := int64(0)
	for _, part := range f.Parts {
		parts += part.Bytes
	}
	require.Equal(t, f.HeaderBytes+f.BodyBytes, parts, "%+v", f)
}

func framesAreNumberedAndAddUp(t *testing.T, p *printed) {
	kinds, dubbo := make(map[string]int64), make(map[string]int64)
	all := p.frames(t)
	for i := range all {
		f := &all[i]
		require.EqualValues(t, i+1, f.Frame)
		if kinds[f.Kind]++; f.Protocol == "dubbo" {
			dubbo[f.Kind]++
		}
		f.addUp(t)
	}
	r, err := parseReport([]byte(p.must(t, "analyze", "--format", "json")))
	require.NoError(t, err)
	require.EqualValues(t, len(all), r.Coverage.Frames)
	require.Equal(t, kinds["heartbeat"], r.Coverage.Heartbeats)
	require.Equal(t, kinds["event"], r.Coverage.Events)
	if p.Complete {
		require.Equal(t, p.FramesSent["request"], dubbo["request"])
		require.Equal(t, p.FramesSent["response"], dubbo["response"])
	}
	if len(all) == 0 {
		return
	}

	// Folding parts changes no sum, and the other formats have the same rows.
	for line := range strings.Lines(p.must(t, "frames", "--format", "jsonl", "--depth", "1")) {
		var f frameRecord
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		f.addUp(t)
	}
	texts := p.together(t, []string{"csv", "json"}, "frames")
	require.Len(t, parseCSV(t, texts[0]), len(all))
	var array []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(texts[1]), &array))
	require.Len(t, array, len(all))
}

// reportParts are the parts of a JSON report as they are written.
type reportParts struct {
	Wire, Coverage json.RawMessage
	Seconds        float64
	Groups         []map[string]any
}

func partsOf(t *testing.T, run result) reportParts {
	require.Contains(t, []int{exit.Done, exit.Nothing}, run.code, run.stderr)
	var r reportParts
	require.NoError(t, json.Unmarshal([]byte(run.out), &r))
	for _, g := range r.Groups {
		if largest, ok := g["largest"].(map[string]any); ok {
			delete(largest, "file")
		}
	}
	return r
}

func filtersLeaveCoverageAndNumbers(t *testing.T, p *printed) {
	whole := partsOf(t, p.run("analyze", "--format", "json"))
	frames := strings.SplitAfter(p.must(t, "frames", "--format", "jsonl", "--depth", "1"), "\n")
	known := make(map[string]int)
	for i, line := range frames {
		known[line] = i
	}
	calls := make(map[string]bool)
	for line := range strings.Lines(p.must(t, "calls", "--format", "jsonl")) {
		calls[line] = true
	}
	for line := range strings.Lines(p.run("calls", "--format", "jsonl", "--method", "*e*").out) {
		require.True(t, calls[line], "not a call of the whole list: %.200s", line)
	}
	for _, filter := range [][]string{
		{"--method", "get*"},
		{"--service", "*nothing*"},
		{"--status", "20"},
		{"--min-size", "1KB"},
		{"--error", "*"},
		{"--attachment", "path=*User*"},
		{"--until", "+500ms"},
		{"--client", "127.*", "--max-size", "300"},
	} {
		some := partsOf(t, p.run("analyze", append([]string{"--format", "json"}, filter...)...))
		require.Equal(t, string(whole.Wire), string(some.Wire), filter)
		require.Equal(t, string(whole.Coverage), string(some.Coverage), filter)
		require.Equal(t, whole.Seconds, some.Seconds)
		if len(some.Groups) == 0 || len(some.Groups) == len(whole.Groups) && filter[0] != "--attachment" {
			continue // nothing, or all: the rows say nothing new
		}
		last := -1
		for line := range strings.Lines(p.run("frames", append([]string{"--format", "jsonl", "--depth", "1"}, filter...)...).out) {
			at, ok := known[line]
			require.True(t, ok, "%s: not a frame of the whole list: %.200s", filter, line)
			require.Greater(t, at, last, filter)
			last = at
		}
	}
}

func twoHalvesAreTheWhole(t *testing.T, p *printed) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "1.pcap"), filepath.Join(dir, "2.pcap")
	data, err := os.ReadFile(p.path)
	require.NoError(t, err)
	first, second := halves(t, data)
	require.NoError(t, os.WriteFile(a, first, 0o666))
	require.NoError(t, os.WriteFile(b, second, 0o666))
	whole := partsOf(t, p.run("analyze", "--format", "json"))
	out, stderr, code := dubboWire("analyze", b, a, "--format", "json") // in any order
	both := partsOf(t, result{out, stderr, code})
	require.JSONEq(t, string(whole.Wire), string(both.Wire))
	require.JSONEq(t, string(whole.Coverage), string(both.Coverage))
	require.Equal(t, whole.Seconds, both.Seconds)
	require.Equal(t, whole.Groups, both.Groups)
}

// halves cuts a capture in two at the border of a packet, where no packet after it is older than one before it: files are
// merged by time.
func halves(t *testing.T, data []byte) (first, second []byte) {
	var starts []int // of packets
	var times []uint64
	end := 24
	if binary.BigEndian.Uint32(data) == 0x0a0d0d0a {
		// pcapng, in the byte order of this machine's recorder: what stands before the first packet describes all.
		at := 0
		for at < len(data) {
			if kind := binary.LittleEndian.Uint32(data[at:]); kind == 6 {
				starts = append(starts, at)
				times = append(times, uint64(binary.LittleEndian.Uint32(data[at+12:]))<<32|uint64(binary.LittleEndian.Uint32(data[at+16:])))
			}
			at += int(binary.LittleEndian.Uint32(data[at+4:]))
		}
		end = starts[0]
	} else {
		for at := end; at < len(data); {
			starts = append(starts, at)
			times = append(times, uint64(binary.LittleEndian.Uint32(data[at:]))<<32|uint64(binary.LittleEndian.Uint32(data[at+4:])))
			at += 16 + int(binary.LittleEndian.Uint32(data[at+8:]))
		}
	}
	require.Greater(t, len(starts), 1)
	cut := len(starts) / 2
	for cut < len(starts)-1 && slices.Max(times[:cut]) > slices.Min(times[cut:]) {
		cut++
	}
	middle := starts[cut]
	return data[:middle], slices.Concat(data[:end], data[middle:])
}
