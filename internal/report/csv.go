package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"io"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// writeCSV prints one row per group in full precision, as RFC 4180 has it, but with Unix line ends. Column names are the paths of
// the JSON report. The row that sums the groups beyond the limit has empty keys and their number in restGroups.
func (r *Report) writeCSV(w io.Writer) error {
	t := csvTable{Report: r, compressed: r.compressed(), heading: true}
	t.texts = csv.NewWriter(&t.text)
	if r.Parts || r.sampledParts() {
		t.classes = r.Classes()
	}
	out := bufio.NewWriter(w)
	for i := -1; i < len(r.Groups); i++ {
		g := &sizes.Group{Rest: true}
		if i >= 0 {
			g, t.heading = r.Groups[i], false
		}
		t.row = t.row[:0]
		t.group(g)
		t.row[len(t.row)-1] = '\n'
		if _, err := out.Write(t.row); err != nil {
			return err
		}
	}
	return out.Flush()
}

// csvTable is a report with what all groups say about the columns of each, because there may be many.
type csvTable struct {
	*Report
	compressed bool
	classes    []decode.Class
	none       sizes.NotOK // of groups that have none
	heading    bool        // the row has the names of the columns
	prefix     string      // of these names
	row        []byte      // each cell with a comma
	text       bytes.Buffer
	texts      *csv.Writer // to text
}

// group appends the cells of a group: its key, the members of its JSON that are texts, numbers or distributions, and restGroups.
func (t *csvTable) group(g *sizes.Group) {
	for i, k := range t.By.Keys {
		value := ""
		if !g.Rest {
			value = g.Values[i]
		}
		t.cell(string(k), value)
		if k == sizes.Serialization {
			t.number("serializationId", int64(g.SerializationID), g.SerializationID >= 0)
		}
	}
	t.number("calls", g.Calls, true)
	t.number("oneWay", g.OneWay, true)
	t.number("errors", g.Errors, true)
	t.number("exceptions", g.Exceptions, true)
	t.number("unanswered", g.Unanswered, true)
	for name, rate := range t.jsonRates(g) {
		t.cell(name, string(rate))
	}
	notOK := cmp.Or(g.NotOK, &t.none)
	t.direction("request.", &g.Request)
	t.direction("response.", g.Response())
	t.direction("responseOk.", &g.ResponseOK)
	t.direction("responseOther.", &notOK.Other)
	t.direction("responseError.", &notOK.Error)
	t.stat("latencyMicros.", &g.Latency, 1000)
	t.stat("waitMicros.", &g.Wait, 1000)
	bytes, sampled := g.Parts(), int64(0)
	if t.sampledParts() {
		bytes = new(sizes.ClassBytes)
		if in := g.Anatomy; in != nil {
			*bytes, sampled = in.Classes(), in.Request.Messages+in.Response.Messages
		}
	}
	for _, c := range t.classes {
		t.number("parts."+c.String(), bytes[c], true)
	}
	if t.sampledParts() {
		t.number("sampled", sampled, true)
	}
	file := ""
	if g.Largest.Frame > 0 {
		file = t.inputFile(g.Largest.File)
	}
	t.cell("largest.file", file)
	t.number("largest.frame", g.Largest.Frame, g.Largest.Frame > 0)
	t.number("largest.bodyBytes", g.Largest.BodyBytes, g.Largest.Frame > 0)
	t.number("restGroups", g.Groups, g.Rest)
}

func (t *csvTable) direction(name string, d *sizes.Direction) {
	t.prefix = name
	t.number("count", d.Body.Count, true)
	t.stat("bodyBytes.", &d.Body, 1)
	t.stat("frameBytes.", &d.Frame, 1)
	t.stat("wireBytes.", &d.Wire, 1)
	if t.compressed {
		t.stat("uncompressedBytes.", d.Uncompressed, 1)
	}
	t.prefix = ""
}

// stat appends the numbers of a distribution divided by unit, empty cells for those that it does not have; nil has none.
func (t *csvTable) stat(name string, s *sizes.Stat, unit int64) {
	switch {
	case t.heading:
		for _, number := range [...]string{"total", "min", "mean", "p50", "p90", "p95", "p99", "max"} {
			t.cell(name+number, "")
		}
		return
	case s == nil:
		t.row = append(t.row, ",,,,,,,,"...)
		return
	case s.Count == 0:
		t.row = append(t.row, "0,,,,,,,,"...)
		return
	}
	var room [len(savedPercentiles)]int64
	t.row = append(appendDecimal(t.row, s.Total, unit), ',')
	t.row = append(appendDecimal(t.row, s.Min, unit), ',')
	t.row = append(strconv.AppendFloat(t.row, sizes.Round3(s.Mean()/float64(unit)), 'f', -1, 64), ',')
	for _, n := range s.AppendPercentiles(room[:0], savedPercentiles[:]...) {
		t.row = append(appendDecimal(t.row, n, unit), ',')
	}
	t.row = append(appendDecimal(t.row, s.Max, unit), ',')
}

// number appends a number, or an empty cell if it is not known.
func (t *csvTable) number(name string, n int64, known bool) {
	switch {
	case t.heading:
		t.row = append(append(t.row, t.prefix...), name...)
	case known:
		t.row = strconv.AppendInt(t.row, n, 10)
	}
	t.row = append(t.row, ',')
}

// cell appends a text.
func (t *csvTable) cell(name, text string) {
	if t.heading {
		text = t.prefix + name
	}
	if text != "" {
		t.text.Reset()
		_ = t.texts.Write([]string{text})
		t.texts.Flush()
		t.row = append(t.row, bytes.TrimSuffix(t.text.Bytes(), []byte("\n"))...)
	}
	t.row = append(t.row, ',')
}
