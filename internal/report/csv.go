package report

import (
	"encoding/csv"
	"io"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/sizes"
)

// writeCSV prints the groups, one a row, in full precision: RFC 4180, with line ends as Unix has them. The names are the JSON report's, with dots where
// that nests. The row of groups beyond the limit has empty keys and their number under restGroups.
func (r *Report) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	if err := out.Write(r.csvHeader()); err != nil {
		return err
	}
	for _, g := range r.Groups {
		if err := out.Write(r.csvRow(g)); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

var statNames = []string{"total", "min", "mean", "p50", "p90", "p95", "p99", "max"}

func (r *Report) csvHeader() []string {
	var names []string
	for _, k := range r.By.Keys {
		names = append(names, string(k))
		if k == sizes.Serialization {
			names = append(names, "serializationId")
		}
	}
	names = append(names, "calls", "oneWay", "errors", "exceptions", "unanswered", "callsPerSecond")
	stats := func(prefix string) {
		for _, n := range statNames {
			names = append(names, prefix+"."+n)
		}
	}
	for _, d := range []string{"request", "response"} {
		names = append(names, d+".count")
		for _, b := range []string{"bodyBytes", "frameBytes", "wireBytes"} {
			stats(d + "." + b)
		}
	}
	stats("latencyMicros")
	stats("waitMicros")
	if r.Parts {
		for c := range decode.ClassMissing {
			names = append(names, "parts."+c.String())
		}
	}
	return append(names, "largest.file", "largest.frame", "largest.bodyBytes", "restGroups")
}

func (r *Report) csvRow(g *sizes.Group) []string {
	var row []string
	for i, k := range r.By.Keys {
		value := ""
		if !g.Rest {
			value = g.Values[i]
		}
		row = append(row, value)
		if k == sizes.Serialization {
			row = append(row, idOrEmpty(g.SerializationID))
		}
	}
	for _, n := range []int64{g.Calls, g.OneWay, g.Errors, g.Exceptions, g.Unanswered} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	perSecond := ""
	if r.Seconds > 0 {
		perSecond = decimal(sizes.Round3(float64(g.Calls) / r.Seconds))
	}
	row = append(row, perSecond)
	for _, d := range []*sizes.Direction{&g.Request, &g.Response} {
		row = append(row, strconv.FormatInt(d.Body.Count, 10))
		for _, st := range []*sizes.Stat{&d.Body, &d.Frame, &d.Wire} {
			row = appendStat(row, st, 1)
		}
	}
	row = appendStat(row, &g.Latency, 1000)
	row = appendStat(row, &g.Wait, 1000)
	if r.Parts {
		for _, n := range g.Parts {
			row = append(row, strconv.FormatInt(n, 10))
		}
	}
	row = append(row, r.csvLargest(g)...)
	if g.Rest {
		return append(row, strconv.FormatInt(g.Groups, 10))
	}
	return append(row, "")
}

func (r *Report) csvLargest(g *sizes.Group) []string {
	l := &g.Largest
	if l.Frame == 0 {
		return []string{"", "", ""}
	}
	file := ""
	if l.File < len(r.Inputs) {
		file = r.Inputs[l.File].File
	}
	return []string{file, strconv.FormatInt(l.Frame, 10), strconv.FormatInt(l.BodyBytes, 10)}
}

// appendStat appends the numbers of a distribution, divided by per; of an empty one only the total.
func appendStat(row []string, s *sizes.Stat, per int64) []string {
	if s.Count == 0 {
		return append(row, "0", "", "", "", "", "", "", "")
	}
	number := func(n int64) string { return decimal(float64(n) / float64(per)) }
	if per == 1 {
		number = func(n int64) string { return strconv.FormatInt(n, 10) }
	}
	return append(row, number(s.Total), number(s.Min), decimal(sizes.Round3(s.Mean()/float64(per))),
		number(s.Percentile(50)), number(s.Percentile(90)), number(s.Percentile(95)), number(s.Percentile(99)), number(s.Max))
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func idOrEmpty(id int) string {
	if id < 0 {
		return ""
	}
	return strconv.Itoa(id)
}
