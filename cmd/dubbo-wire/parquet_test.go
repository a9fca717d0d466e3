package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// A parquetRow is a row by the names of its columns; values that are null are missing.
type parquetRow map[string]parquet.Value

func (r parquetRow) text(name string) string { return string(r[name].ByteArray()) }

func (r parquetRow) is(name string) bool { v, ok := r[name]; return ok && v.Boolean() }

// parts returns the bytes of the classes of a side that has some.
func (r parquetRow) parts(side string) string {
	parts := map[string]int64{}
	for _, class := range partNames {
		parts[class] = r[side+"_"+class+"_bytes"].Int64()
	}
	return partList(parts)
}

func partList(parts map[string]int64) (list string) {
	for _, class := range partNames {
		list += fmt.Sprint(parts[class], " ")
	}
	return list
}

// readParquet returns the rows of a file and the schema in its metadata.
func readParquet(t require.TestingT, name string) (rows []parquetRow, schema string) {
	in, err := os.Open(name)
	require.NoError(t, err)
	defer in.Close()
	info, err := in.Stat()
	require.NoError(t, err)
	f, err := parquet.OpenFile(in, info.Size())
	require.NoError(t, err)
	schema, _ = f.Lookup("schema")
	columns := f.Schema().Columns()
	r := parquet.NewReader(f)
	defer r.Close()
	buf := make([]parquet.Row, 100)
	for {
		n, err := r.ReadRows(buf)
		for _, values := range buf[:n] {
			row := parquetRow{}
			for _, v := range values {
				if !v.IsNull() {
					row[columns[v.Column()][0]] = v.Clone()
				}
			}
			rows = append(rows, row)
		}
		if err == io.EOF {
			return rows, schema
		}
		require.NoError(t, err)
	}
}

// parquetSum adds up what a group of the JSON report has of a size.
type parquetSum struct{ Count, Total, Min, Max float64 }

func (s *parquetSum) add(n float64) {
	if s.Count == 0 {
		s.Min, s.Max = n, n
	}
	s.Count++
	s.Total += n
	s.Min, s.Max = min(s.Min, n), max(s.Max, n)
}

// parquetSide has the sizes of a direction.
type parquetSide struct {
	Count                            float64
	BodyBytes, FrameBytes, WireBytes parquetSum
}

// parquetPart is the bytes of a class.
type parquetPart struct {
	Path  string
	Bytes int64
}

// parquetGroup is what a group of the JSON report has that is computed from the rows of its calls.
type parquetGroup struct {
	Calls, OneWay, Errors, Unanswered float64
	Request, Response                 parquetSide
	LatencyMicros                     parquetSum
	Parts                             []parquetPart
}

// parquetAgrees compares the rows of Parquet with the groups of the report: counts, sums, smallest and largest of all sizes, and bytes by class. Calls of
// several messages have sums only.
func parquetAgrees(t *testing.T, p *printed) {
	name := filepath.Join(t.TempDir(), "calls.parquet")
	_, stderr, code := dubboWire("calls", p.path, "-o", name, "--node", "here")
	report := p.run("analyze", "--parts", "--format", "json")
	if report.code == 1 { // no frames
		require.Equal(t, 1, code, stderr)
		return
	}
	require.Equal(t, report.code, code, stderr)
	rows, schema := readParquet(t, name)
	require.Equal(t, "dubbo-wire/calls/1", schema)

	var want struct {
		Coverage map[string]any
		Wire     map[string]any
		Groups   []json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(report.out), &want))
	for _, row := range rows {
		require.Equal(t, "here", row.text("host"))
	}
	rowsAgree(t, rows, want.Groups)

	// Names of errors, classes of exceptions, groups of services, link bytes and parts are those of the records, which decode everything.
	names := map[string]int{}
	for line := range strings.Lines(p.run("calls", "--format", "jsonl").out) {
		var c struct {
			Error     string
			State     string
			Exception struct{ Class string }
			Group     string
			OneWay    *bool

			RequestWireBytes, ResponseWireBytes int64
			RequestParts, ResponseParts         map[string]int64
		}
		require.NoError(t, json.Unmarshal([]byte(line), &c))
		names[fmt.Sprint(c.Error, " ", c.State, " ", c.Exception.Class, " ", c.Group, " ", c.OneWay != nil, c.OneWay != nil && *c.OneWay,
			c.RequestWireBytes, c.ResponseWireBytes, partList(c.RequestParts), partList(c.ResponseParts))]++
	}
	for _, row := range rows {
		_, known := row["one_way"]
		names[fmt.Sprint(row.text("error"), " ", row.text("state"), " ", row.text("exception_class"), " ", row.text("service_group"), " ", known, row.is("one_way"),
			row["request_wire_bytes"].Int64(), row["response_wire_bytes"].Int64(), row.parts("request"), row.parts("response"))]--
	}
	for text, n := range names {
		require.Zero(t, n, text)
	}
}

// rowsAgree compares rows with the groups of a report by the default keys.
func rowsAgree(t require.TestingT, rows []parquetRow, groups []json.RawMessage) {
	got := map[string]*parquetGroup{}
	streaming := map[string]bool{}
	for _, row := range rows {
		key := fmt.Sprint(row.text("protocol"), " ", row.text("serialization"), " ", row.text("service"), " ", row.text("method"))
		g := got[key]
		if g == nil {
			g = new(parquetGroup)
			got[key] = g
		}
		g.add(row)
		streaming[key] = streaming[key] || row["request_messages"].Int64() > 1 || row["response_messages"].Int64() > 1
	}
	require.Len(t, got, len(groups))
	for _, raw := range groups {
		var of struct{ Protocol, Serialization, Service, Method string }
		var g parquetGroup
		require.NoError(t, json.Unmarshal(raw, &of))
		require.NoError(t, json.Unmarshal(raw, &g))
		key := fmt.Sprint(of.Protocol, " ", of.Serialization, " ", of.Service, " ", of.Method)
		for _, d := range []*parquetSide{&g.Request, &g.Response} {
			d.BodyBytes.Count, d.FrameBytes.Count, d.WireBytes.Count = d.Count, d.Count, d.Count
		}
		have := got[key]
		require.NotNil(t, have, key)
		if streaming[key] {
			require.Equal(t, g.Calls, have.Calls, key)
			require.Equal(t, g.Errors, have.Errors, key)
			continue
		}
		have.LatencyMicros.Count = 0
		have.LatencyMicros.Total = math.Round(have.LatencyMicros.Total*1000) / 1000
		none := func(p parquetPart) bool { return p.Bytes == 0 }
		have.Parts, g.Parts = slices.DeleteFunc(have.Parts, none), slices.DeleteFunc(g.Parts, none)
		if len(g.Parts) == 0 {
			g.Parts = have.Parts[:0]
		}
		require.Equal(t, &g, have, key)
	}
}

// partNames are the classes of bytes that rows have.
var partNames = []string{"values", "names", "attachments", "envelope", "overhead", "opaque", "compressed"}

// add adds a call up as the report does: sizes of complete messages.
func (g *parquetGroup) add(row parquetRow) {
	g.Calls++
	switch row.text("state") {
	case "oneWay":
		g.OneWay++
	case "noResponse":
		g.Unanswered++
	}
	if _, failed := row["error"]; failed { // also the response of a call without a request
		g.Errors++
	}
	for i, d := range []*parquetSide{&g.Request, &g.Response} {
		side := [2]string{"request", "response"}[i]
		if !row.is(side + "_complete") {
			continue
		}
		d.Count++
		d.BodyBytes.add(float64(row[side+"_body_bytes"].Int64()))
		d.FrameBytes.add(float64(row[side+"_frame_bytes"].Int64()))
		d.WireBytes.add(float64(row[side+"_wire_bytes"].Int64()))
	}
	for _, side := range []string{"request", "response"} {
		for i := 0; row.is(side+"_complete") && i < len(partNames); i++ {
			if len(g.Parts) == i {
				g.Parts = append(g.Parts, parquetPart{Path: partNames[i]})
			}
			g.Parts[i].Bytes += row[side+"_"+partNames[i]+"_bytes"].Int64()
		}
	}
	if v, ok := row["latency_micros"]; ok {
		g.LatencyMicros.add(v.Double())
	}
}

// scriptTest is a script as a test of require.
type scriptTest struct{ *testscript.TestScript }

func (t scriptTest) Errorf(format string, args ...any) { t.Fatalf(format, args...) }

func (scriptTest) FailNow() {}

// cmdCallFiles compares the files of calls in a folder, and their coverage, with a report.
func cmdCallFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: callfiles REPORT FOLDER FILES")
	}
	t := scriptTest{ts}
	least, err := strconv.Atoi(args[2])
	ts.Check(err)
	var want struct {
		Coverage map[string]any
		Wire     map[string]any
		Inputs   []struct{ Packets int64 }
		Groups   []json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(ts.ReadFile(args[0])), &want))
	files, err := filepath.Glob(ts.MkAbs(args[1] + "/*.parquet"))
	ts.Check(err)
	require.GreaterOrEqual(t, len(files), least)
	var rows []parquetRow
	sums := map[string]int64{}
	var until int64
	for _, name := range files {
		some, schema := readParquet(t, name)
		require.Equal(t, "dubbo-wire/calls/1", schema)
		rows = append(rows, some...)
		coverage, _ := readParquet(t, filepath.Join(filepath.Dir(name), "_coverage", filepath.Base(name)))
		require.Len(t, coverage, 1)
		row := coverage[0]
		require.Equal(t, filepath.Base(name), row.text("calls"))
		require.Zero(t, row["exit_code"].Int64())
		if until != 0 {
			require.Equal(t, until, row["first_time"].Int64())
		}
		if at, ok := row["last_time"]; ok {
			until = at.Int64()
		}
		for column, v := range row {
			if v.Kind() == parquet.Int64 {
				sums[column] += v.Int64()
			}
		}
	}
	rowsAgree(t, rows, want.Groups)
	require.Equal(t, want.Inputs[0].Packets, sums["packets"])
	books := 0
	for _, object := range []map[string]any{want.Wire, want.Coverage} {
		for name, v := range object {
			if v, ok := v.(float64); ok && name != "percent" {
				column := strings.ToLower(regexp.MustCompile("[A-Z]").ReplaceAllString(name, "_$0"))
				require.Equal(t, int64(v), sums[column], column)
				books++
			}
		}
	}
	require.Greater(t, books, 20)
}
