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
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/exit"
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

	rows := parseCSV(t, p.must(t, "analyze", "--format", "csv"))
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

	md := parseMarkdown(p.must(t, "analyze", "--format", "markdown", "--exact", "--top", "1000000"))
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
	text := p.must(t, "analyze", "--exact", "--top", "1000000")
	at := 0
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

// Widths come from the environment, so captures are not walked in parallel.
func TestTablesFitTheirWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	for _, c := range testkit.Captures() {
		if c.Foreign() || !c.Sampled(50) {
			continue
		}
		for _, args := range [][]string{
			{"analyze", c.Path()},
			{"analyze", c.Path(), "--exact"},
			{"analyze", c.Path(), "--by", "client,server,version"},
			{"analyze", c.Path(), "--by", "service,method,status,time:1s"},
			{"frames", c.Path()},
			{"calls", c.Path()},
			{"formats"},
		} {
			widths := []int{80}
			if args[0] == "analyze" {
				widths = []int{60, 80, 120}
			}
			for _, columns := range widths {
				t.Setenv("COLUMNS", strconv.Itoa(columns))
				text := must(t, args...)
				for line := range strings.Lines(text) {
					line = strings.TrimSuffix(line, "\n")
					if !strings.HasPrefix(strings.TrimSpace(line), "dubbo-wire ") { // commands are not wrapped, so that they can be copied
						require.LessOrEqual(t, uniseg.StringWidth(line), columns, "%s: %s", args, line)
					}
				}
				if args[0] == "analyze" {
					require.LessOrEqual(t, strings.Count(headOf(text), "\n"), 8, "%s at %d", args, columns)
				}
			}
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
	Kind, ID, Protocol     string
	HeaderBytes, BodyBytes int64
	Complete               bool
	Parts                  []struct{ Bytes int64 }
}

func framesAreNumberedAndAddUp(t *testing.T, p *printed) {
	out := p.must(t, "frames", "--format", "jsonl")
	kinds, dubbo := make(map[string]int64), make(map[string]int64)
	next := int64(1)
	for line := range strings.Lines(out) {
		var f frameRecord
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		require.Equal(t, next, f.Frame)
		next++
		if kinds[f.Kind]++; f.Protocol == "dubbo" {
			dubbo[f.Kind]++
		}
		parts := int64(0)
		for _, part := range f.Parts {
			parts += part.Bytes
		}
		require.Equal(t, f.HeaderBytes+f.BodyBytes, parts, line)
	}
	r, err := parseReport([]byte(p.must(t, "analyze", "--format", "json")))
	require.NoError(t, err)
	require.Equal(t, next-1, r.Coverage.Frames)
	require.Equal(t, kinds["heartbeat"], r.Coverage.Heartbeats)
	require.Equal(t, kinds["event"], r.Coverage.Events)
	if p.Complete {
		require.Equal(t, p.FramesSent["request"], dubbo["request"])
		require.Equal(t, p.FramesSent["response"], dubbo["response"])
	}
	if strings.Count(out, "\n") == 0 {
		return
	}

	// Folding parts changes no sum, and the other formats have the same rows.
	for line := range strings.Lines(p.must(t, "frames", "--format", "jsonl", "--depth", "1")) {
		var f frameRecord
		require.NoError(t, json.Unmarshal([]byte(line), &f), line)
		parts := int64(0)
		for _, part := range f.Parts {
			parts += part.Bytes
		}
		require.Equal(t, f.HeaderBytes+f.BodyBytes, parts, line)
	}
	require.Len(t, parseCSV(t, p.must(t, "frames", "--format", "csv")), int(next-1))
	var all []json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(p.must(t, "frames", "--format", "json")), &all))
	require.Len(t, all, int(next-1))
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
	first, second := halves(t, p.Bytes(t))
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
