// Package print prints what calls weigh in other serializations: a table for terminals, Markdown, CSV, JSON, one line of JSON for each call and
// target, and a page.
//
// An [estimate.Result] comes in, text goes out. Every table has the calibration, the Java virtual machine of the times, and what was not
// estimated and why. The package keeps nothing.
package print

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/estimate"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/report/page"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// DefaultTop is the default number of groups in tables.
const DefaultTop = 10

// Write prints a result as "table", "markdown", "csv", "json", "jsonl" or "html".
func Write(w io.Writer, format string, r *estimate.Result, s report.Style) error {
	switch format {
	case "csv":
		return writeCSV(w, r)
	case "json":
		return writeJSON(w, r)
	case "jsonl":
		return writeLines(w, r)
	case "html":
		s.Width, s.Color = 0, false
		return page.WriteDocument(w, "Dubbo sizes, estimated", document(r, &s))
	}
	return document(r, &s).Write(w, format, s)
}

func document(r *estimate.Result, s *report.Style) *report.Document {
	d := &report.Document{Summary: summary(r)}
	all := report.Section{Title: "ESTIMATES", Columns: columns(r, report.Column{Name: "as", Flex: true})}
	addRows(&all, r, s, "", func(t *estimate.TargetResult) *estimate.GroupResult { return t.All })
	all.Notes = notes(r)
	d.Sections = append(d.Sections, all)
	if len(r.By.Keys) > 0 {
		d.Sections = append(d.Sections, groups(r, s))
	}
	if sec := calibration(r, s); len(sec.Columns) > 0 {
		d.Sections = append(d.Sections, sec)
	}
	if sec := causes(r, s, "NOT ESTIMATED", func(t *estimate.TargetResult) []estimate.Cause { return t.Failed }); len(sec.Columns) > 0 {
		d.Sections = append(d.Sections, sec)
	}
	if sec := causes(r, s, "NOT DECODABLE", func(t *estimate.TargetResult) []estimate.Cause { return t.Unreadable }); len(sec.Columns) > 0 {
		sec.Notes = append(sec.Notes, "Dubbo encodes these calls, but fails to decode the bodies again: the service could not use the serialization as it is.")
		d.Sections = append(d.Sections, sec)
	}
	return d
}

func summary(r *estimate.Result) string {
	text := report.Plural(r.Calls, "call") + " in " + strings.Join(clean(r.Observed), ", ")
	if r.Seconds > 0 {
		text += " in " + report.Elapsed(int64(r.Seconds*1e9))
	}
	if r.Sampled < r.Calls {
		text += fmt.Sprintf("; %s sampled, up to %s of each method (--sample all takes all)", report.Count(r.Sampled), report.Count(int64(r.PerMethod)))
	}
	if r.Release != "" {
		text += "; Dubbo " + term.Clean(r.Release)
		if r.Guessed {
			text += ", as the calls suggest (--release)"
		}
	}
	return text
}

func clean(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = term.Clean(s)
	}
	return out
}

// has says which columns a table needs.
type has struct{ release, times, errors, partly bool }

func contents(r *estimate.Result) (h has) {
	for _, t := range r.Targets {
		h.release = h.release || t.Release != "" && t.Release != r.Release
		h.times = h.times || t.All.Encode != nil || t.All.Decode != nil
		h.errors = h.errors || t.All.Error != nil
		h.partly = h.partly || t.All.Encoded < t.All.Calls
	}
	return h
}

// columns returns the columns of a table, the first one as given.
func columns(r *estimate.Result, first report.Column) []report.Column {
	h := contents(r)
	list := []report.Column{first}
	right := func(group, name string, wide bool) {
		list = append(list, report.Column{Group: group, Name: name, Right: true, Wide: wide})
	}
	if h.release {
		list = append(list, report.Column{Name: "Dubbo", Wide: true})
	}
	right("request body bytes", "mean", false)
	right("request body bytes", "p99", true)
	right("request body bytes", "change", false)
	right("response body bytes", "mean", false)
	right("response body bytes", "p99", true)
	right("response body bytes", "change", false)
	right("frames", "change", false)
	if h.errors {
		right("frames", "± %", false)
	}
	right("frames", "a month", false)
	if h.partly {
		right("", "calls %", false)
	}
	if h.times {
		right("CPU time per call, rough", "encode", false)
		right("CPU time per call, rough", "decode", false)
	}
	return list
}

// addRows adds a row for each target that has encoded calls of a group: what was observed first, then the targets with the smallest frames first.
func addRows(sec *report.Section, r *estimate.Result, s *report.Style, name string, of func(*estimate.TargetResult) *estimate.GroupResult) {
	h := contents(r)
	targets := slices.DeleteFunc(slices.Clone(r.Targets), func(t *estimate.TargetResult) bool { return of(t) == nil || of(t).Encoded == 0 })
	slices.SortStableFunc(targets, func(a, b *estimate.TargetResult) int {
		if a.Measured != b.Measured {
			return map[bool]int{true: -1, false: 1}[a.Measured]
		}
		if a.Measured {
			return 0
		}
		return cmp.Compare(ratio(of(a)), ratio(of(b)))
	})
	if name != "" { // a row of its own, which leaves the columns to the numbers
		sec.Add(append([]string{name}, make([]string, len(sec.Columns)-1)...)...)
	}
	for _, t := range targets {
		g := of(t)
		as := term.Clean(t.As)
		switch {
		case t.Measured:
			as += " (measured)"
		case t.Calibration != nil:
			as = "~ " + as
		}
		var row []string
		if name != "" {
			as = "  " + as
		}
		row = append(row, as)
		if h.release {
			row = append(row, cmp.Or(term.Clean(t.Release), "-"))
		}
		e := &g.Estimated
		var o estimate.Measures
		if g.Observed != nil {
			o = *g.Observed
		}
		row = append(row, stat(&e.Request, s)...)
		row = append(row, change(e.Request.Total, o.Request.Total, s))
		row = append(row, stat(&e.Response, s)...)
		row = append(row, change(e.Response.Total, o.Response.Total, s), change(e.FrameBytes(), o.FrameBytes(), s))
		if h.errors {
			row = append(row, sampling(g))
		}
		row = append(row, perMonth(r, t, g, s))
		if h.partly {
			row = append(row, report.Percent(g.Encoded, g.Calls))
		}
		if h.times {
			row = append(row, between(g.Encode), between(g.Decode))
		}
		sec.Add(row...)
	}
}

// ratio returns the bytes of frames as a part of the observed ones.
func ratio(g *estimate.GroupResult) float64 {
	if g.Observed == nil || g.Observed.FrameBytes() == 0 {
		return math.Inf(1)
	}
	return float64(g.Estimated.FrameBytes()) / float64(g.Observed.FrameBytes())
}

func stat(s *sizes.Stat, st *report.Style) []string {
	if s.Count == 0 {
		return []string{"-", "-"}
	}
	mean := s.Mean()
	text := report.Size(mean)
	if st.Exact && mean != math.Trunc(mean) {
		text = term.Group(strconv.FormatFloat(mean, 'f', 3, 64))
	}
	return []string{text, report.Count(s.Percentile(99))}
}

func change(estimated, observed int64, s *report.Style) string {
	switch {
	case observed == 0:
		return "-"
	case estimated == observed:
		return "="
	}
	p := 100 * (float64(estimated)/float64(observed) - 1)
	digits := 1
	if s.Exact {
		digits = 3
	}
	switch {
	case math.Abs(p) < 0.05 && !s.Exact:
		return map[bool]string{true: "-", false: "+"}[p < 0] + "<0.1 %"
	case p >= 999.95:
		return "x " + strconv.FormatFloat(float64(estimated)/float64(observed), 'f', digits, 64)
	}
	text := strconv.FormatFloat(p, 'f', digits, 64) + " %"
	if p > 0 {
		text = "+" + text
	}
	return text
}

func sampling(g *estimate.GroupResult) string {
	if g.Error == nil {
		return "-"
	}
	if e := g.Error.Frames; e >= 0.05 || e == 0 {
		return strconv.FormatFloat(e, 'f', 1, 64)
	}
	return "<0.1"
}

func perMonth(r *estimate.Result, t *estimate.TargetResult, g *estimate.GroupResult, s *report.Style) string {
	n := estimate.PerMonth(g, r.Seconds)
	switch {
	case n == nil:
		return "-"
	case s.Exact:
		return report.Count(*n)
	}
	return report.Volume(*n)
}

func between(r *estimate.Range) string {
	if r == nil {
		return "-"
	}
	low, high := report.Elapsed(r.Low), report.Elapsed(r.High)
	if low == high {
		return low
	}
	if number, unit, _ := strings.Cut(low, " "); strings.HasSuffix(high, " "+unit) {
		low = number
	}
	return low + "-" + high
}

// notes are the sentences below the table.
func notes(r *estimate.Result) []string {
	list := []string{
		"mean, p99: of the calls that could be encoded; change: against what was observed of the same calls, over their sum. Only successful responses are estimated.",
		"a month: bytes of frames in both directions, of all calls, in 30 days at the capture's rate.",
	}
	if contents(r).partly {
		list = append(list, "calls %: the calls that could be encoded. Means of rows with other calls do not compare with each other; changes do.")
	}
	if r.Compressed > 0 {
		list = append(list, fmt.Sprintf("%s of %s had compressed bodies, which is what measured and change refer to; estimates are without compression.",
			report.Count(r.Compressed), term.Counted(r.Calls, "call")))
	}
	list = append(list, calibrationLines(r)...)
	if h := contents(r); h.times {
		text := "CPU time: of the thread, from the fastest tenth of the rounds to their median; it is rough"
		if len(r.JVMs) > 0 {
			text += ". Measured with Java " + strings.Join(clean(r.JVMs), ", Java ")
		}
		if r.CPU != "" {
			text += " on " + term.Clean(r.CPU)
		}
		list = append(list, text+".")
	} else if len(r.JVMs) > 0 {
		list = append(list, "Encoded with Java "+strings.Join(clean(r.JVMs), ", Java ")+".")
	}
	if contents(r).errors {
		list = append(list, "± %: what the sample may be off by, in percent of the observed bytes, at 95 % confidence. A measured row has all calls.")
	}
	for _, n := range []struct {
		of   func(t *estimate.TargetResult) bool
		text string
	}{
		{func(t *estimate.TargetResult) bool {
			return strings.HasSuffix(t.As, "protobuf") && t.Release != "" && !measuresProtobuf(r)
		}, "protobuf: schema derived from the classes."},
		{func(t *estimate.TargetResult) bool { return strings.HasSuffix(t.As, " stream") }, "stream: the bodies of a connection in one direction are one stream that is flushed after each of them, as if a layer below compressed; on the first 32 connections."},
		{func(t *estimate.TargetResult) bool { return strings.HasSuffix(t.As, " framing") }, "framing: the observed values as they are, in the bodies, frames and headers of Triple."},
	} {
		if slices.ContainsFunc(r.Targets, func(t *estimate.TargetResult) bool { return !t.Measured && t.All.Encoded > 0 && n.of(t) }) {
			list = append(list, n.text)
		}
	}
	for _, p := range r.Problems {
		list = append(list, "The Java virtual machine ended early. "+term.Clean(p))
	}
	switch {
	case r.Stopped && r.Unfinished:
		list = append(list, "Stopped: the table has the sampled calls that were encoded so far.")
	case r.Stopped:
		list = append(list, "Stopped before the CPU time was measured.")
	}
	return list
}

// measuresProtobuf reports whether messages of protocol buffers were observed, which have schemas of their own.
func measuresProtobuf(r *estimate.Result) bool {
	return slices.ContainsFunc(r.Targets, func(t *estimate.TargetResult) bool { return t.Measured && strings.Contains(t.As, "protobuf") })
}

// calibrationLines say how well the observed bodies come out again. Serializations of which all do are in one line.
func calibrationLines(r *estimate.Result) (list []string) {
	var exact []string
	for _, k := range r.Calibrations {
		if k.Bodies > 0 && k.EqualBytes == k.Bodies && k.Failed == 0 {
			exact = append(exact, fmt.Sprintf("%s (%s)", term.Clean(k.Serialization), report.Count(k.Bodies)))
		}
	}
	if len(exact) > 1 {
		list = append(list, "Calibration: re-encoding gives all observed bodies byte for byte: "+strings.Join(exact, ", ")+".")
	}
	for _, k := range r.Calibrations {
		name, why := term.Clean(k.Serialization), k.Why()
		if causes := k.Causes(); k.Bodies == 0 && len(causes) > 0 {
			why = term.Clean(causes[0].Text)
		}
		switch {
		case k.Bodies == 0:
			text := "Calibration: no body in " + name + " could be encoded again, so nothing tells how exact the estimates are"
			if why != "" {
				text += ": " + strings.TrimSuffix(why, ".")
			}
			list = append(list, text+".")
			continue
		case k.EqualBytes == k.Bodies && k.Failed == 0 && len(exact) > 1:
			continue
		}
		again := "re-encoding into " + name
		if k.As != k.Serialization {
			again += " (" + term.Clean(k.As) + ")"
		}
		text := fmt.Sprintf("Calibration: %s as Dubbo %s does gives %s of %s in the same size, %s byte for byte", again, term.Clean(k.Release),
			report.Count(k.EqualSize), bodies(k.Bodies), report.Count(k.EqualBytes))
		if k.Failed > 0 {
			text += "; " + report.Count(k.Failed) + " could not be encoded"
		}
		text += "."
		if !k.Good() {
			text += " Rows with ~ may be off as much"
			if k.Bytes > 0 && k.Off > 0 {
				text += ": sizes differ by " + report.Percent(k.Off, k.Bytes) + " % of the bytes"
			}
			text += "."
		}
		list = append(list, text)
	}
	return list
}

func bodies(n int64) string {
	if n == 1 {
		return "1 body"
	}
	return report.Count(n) + " bodies"
}

// groups returns the table of the groups with most bytes.
func groups(r *estimate.Result, s *report.Style) report.Section {
	var keys []string
	for _, k := range r.By.Keys {
		keys = append(keys, string(k))
	}
	title := strings.Join(keys, ", ")
	if title == "service, method" {
		title = "service/method"
	}
	sec := report.Section{Title: "BY " + strings.ToUpper(strings.Join(keys, ", ")), Columns: columns(r, report.Column{Name: title, Names: true})}
	order := make([]int, len(r.Groups))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Groups[b].FrameBytes, r.Groups[a].FrameBytes) })
	top := s.Rows(DefaultTop)
	for _, g := range order[:min(top, len(order))] {
		addRows(&sec, r, s, groupName(r, r.Groups[g]), func(t *estimate.TargetResult) *estimate.GroupResult { return t.Groups[g] })
	}
	if n := len(order) - top; n > 0 {
		sec.Notes = append(sec.Notes, fmt.Sprintf("%s more (--top %d).", report.Count(int64(n)), len(order)))
	}
	return sec
}

func groupName(r *estimate.Result, g *estimate.Group) string {
	if g.Rest {
		return "other groups"
	}
	sep := ", "
	if len(r.By.Keys) == 2 && r.By.Keys[0] == sizes.Service && r.By.Keys[1] == sizes.Method {
		sep = "/"
	}
	return strings.Join(clean(g.Values), sep)
}

// maxDifferences is the number of methods that a table of differences has.
const maxDifferences = 10

// calibration returns the table of what differs where less than 99 % of the bodies come out in the same size.
func calibration(r *estimate.Result, s *report.Style) report.Section {
	sec := report.Section{Title: "CALIBRATION, what differs"}
	for _, k := range r.Calibrations {
		if k.Bodies == 0 || k.Good() {
			continue
		}
		sec.Columns = []report.Column{
			{Name: "service/method", Names: true},
			{Name: "of"},
			{Name: "bodies", Right: true},
			{Name: "differ", Right: true},
			{Name: "observed mean", Right: true},
			{Name: "encoded mean", Right: true},
			{Name: "change", Right: true},
		}
		list := k.Differences()
		for _, d := range list[:min(maxDifferences, len(list))] {
			direction := "request"
			if d.Response {
				direction = "response"
			}
			row := []string{term.Clean(d.Method), direction, report.Count(d.Bodies), report.Count(d.Differ)}
			row = append(row, report.Size(float64(d.ObservedBytes)/float64(d.Differ)), report.Size(float64(d.AgainBytes)/float64(d.Differ)), change(d.AgainBytes, d.ObservedBytes, s))
			sec.Add(row...)
		}
		if n := len(list) - maxDifferences; n > 0 {
			sec.Notes = append(sec.Notes, report.Plural(int64(n), "more difference")+".")
		}
	}
	return sec
}

// maxCauses is the number of causes that a table has.
const maxCauses = 20

// causes returns a table of calls by cause, such as those that are not estimated.
func causes(r *estimate.Result, s *report.Style, title string, of func(t *estimate.TargetResult) []estimate.Cause) report.Section {
	type line struct {
		estimate.Cause
		targets []string
	}
	var lines []*line
	for _, t := range r.Targets {
		for _, c := range of(t) {
			i := slices.IndexFunc(lines, func(l *line) bool { return l.Cause == c })
			if i < 0 {
				i = len(lines)
				lines = append(lines, &line{Cause: c})
			}
			lines[i].targets = append(lines[i].targets, term.Clean(t.As))
		}
	}
	sec := report.Section{}
	if len(lines) == 0 {
		return sec
	}
	slices.SortStableFunc(lines, func(a, b *line) int { return cmp.Compare(b.Calls*int64(len(b.targets)), a.Calls*int64(len(a.targets))) })
	sec = report.Section{Title: title, Columns: []report.Column{{Name: "calls", Right: true}, {Name: "as", Flex: true}, {Name: "why", Wrap: true}}}
	top, classes, library := max(maxCauses, s.Top), false, false
	for _, l := range lines[:min(top, len(lines))] {
		names := strings.Join(l.targets, ", ")
		if len(l.targets) > 3 {
			names = fmt.Sprintf("%s, %d more", strings.Join(l.targets[:2], ", "), len(l.targets)-2)
		}
		sec.Add(report.Count(l.Calls), names, term.Clean(l.Text))
		classes = classes || strings.Contains(l.Text, "(--classpath)")
		library = library || estimate.LibraryMissing(l.Text)
	}
	if n := len(lines) - top; n > 0 {
		sec.Notes = append(sec.Notes, report.Plural(int64(n), "more cause")+": --format json has them.")
	}
	if classes {
		sec.Notes = append(sec.Notes, "These calls need the application's classes: --classpath app.jar")
	}
	if library {
		sec.Notes = append(sec.Notes, "A library is missing among the jars of Dubbo: --maven finds it, --print-pom names it.")
	}
	return sec
}
