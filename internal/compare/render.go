package compare

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// DefaultTop is the default number of methods in tables.
const DefaultTop = 10

// Write prints the comparison as "table", "markdown", "csv" or "json".
func (c *Comparison) Write(w io.Writer, format string, s report.Style) error {
	switch format {
	case "csv":
		return c.writeCSV(w)
	case "json":
		return c.writeJSON(w)
	}
	return c.document(&s, format == "markdown").Write(w, format, s)
}

func (c *Comparison) labels() []string {
	list := make([]string, len(c.Sides))
	for i, s := range c.Sides {
		list[i] = term.Clean(s.Label)
	}
	return list
}

func (c *Comparison) document(s *report.Style, folds bool) *report.Document {
	doc := &report.Document{Summary: c.summary(), Compact: true}
	if c.MixMethods > 0 {
		doc.Sections = append(doc.Sections, c.mixSection(s))
	}
	if len(c.Methods) > 0 {
		changed := slices.DeleteFunc(slices.Clone(c.Methods), func(m *Method) bool { return len(m.tableMeasures()) == 0 })
		doc.Sections = append(doc.Sections, c.methodSections(s, changed, folds)...)
	}
	if len(c.Only) > 0 {
		doc.Sections = append(doc.Sections, c.onlySection(s, folds))
	}
	return doc
}

// summary names the sides with their calls and coverage.
func (c *Comparison) summary() string {
	words := make([]string, len(c.Sides))
	for i, s := range c.Sides {
		words[i] = fmt.Sprintf("%s: %s calls, coverage %s", term.Clean(s.Label), report.Count(s.Report.Selected.Calls), report.Coverage(s.Report.Percent()))
	}
	return strings.Join(words, "; ")
}

// columns returns the columns of a table of measures: the label, the measure and the sides.
func (c *Comparison) columns(first string, names bool) []report.Column {
	cols := []report.Column{{Name: first, Names: names}}
	if names {
		cols = append(cols, report.Column{Name: "of a call"})
	}
	for i, label := range c.labels() {
		cols = append(cols, report.Column{Name: term.CutMiddle(label, 20), Right: true})
		if i > 0 {
			cols = append(cols, report.Column{Name: "change", Right: true})
			if names {
				cols = append(cols, report.Column{Name: ""})
			}
		}
	}
	return cols
}

func (c *Comparison) row(m *Measure, s *report.Style, tests bool) []string {
	row := []string{m.format(m.Values[0], s.Exact)}
	for i, ch := range m.Changes {
		change, word := m.changeText(i, s.Exact), ch.word()
		if c.frames && slices.Contains(bodies, m.Name) {
			change, word = "", "" // bodies of protocols do not compare
		}
		row = append(row, m.format(m.Values[i+1], s.Exact), change)
		if tests {
			row = append(row, word)
		}
	}
	return row
}

// bodies are the measures of bodies.
var bodies = []string{Request, RequestP50, RequestP99, Response, ResponseP50, ResponseP99}

// framesNote explains why frames are compared.
const framesNote = "Frames are compared because the protocols differ in what is in headers and what in bodies."

func (c *Comparison) mixSection(s *report.Style) report.Section {
	sec := report.Section{Title: "A CALL, the same mix of methods", Columns: c.columns("", false)}
	for i := range c.Mix {
		m := &c.Mix[i]
		if m.missing() || m.Name == Latency || m.Name == Errors && !slices.ContainsFunc(m.Values, func(v Number) bool { return v > 0 }) {
			continue
		}
		sec.Add(append([]string{mixNames[m.Name]}, c.row(m, s, false)...)...)
	}
	which := "The method that is in all"
	if c.MixMethods > 1 {
		which = fmt.Sprintf("The %s methods that are in all", report.Count(int64(c.MixMethods)))
	}
	sec.Notes = append(sec.Notes, fmt.Sprintf("%s, each as often as in %s.", which, c.labels()[0]))
	if c.frames {
		sec.Notes = append(sec.Notes, framesNote+" Control bytes are heartbeats and the like, of all calls.")
	}
	return sec
}

var mixNames = map[string]string{
	Request: "request body, mean bytes", Response: "response body, mean bytes", Wire: "bytes on the wire",
	LatencyP50: "latency, median", Errors: "errors",
	RequestFrame: "request frame, mean bytes", ResponseFrame: "response frame, mean bytes", Control: "control bytes per call",
}

// only reports whether all changes have one of the verdicts.
func (m *Measure) only(verdicts ...Verdict) bool {
	return !slices.ContainsFunc(m.Changes, func(c Change) bool { return !slices.Contains(verdicts, c.Verdict) })
}

func (m *Measure) missing() bool { return m.only(Missing) }

func (m *Measure) exact() bool { return m.only(Missing, Same, Exact) }

// significant reports whether a change of the measure is known and not noise.
func (m *Measure) significant() bool { return !m.only(Missing, Same, Noise, Untested) }

// errorsChanged reports whether a share of errors differs by more than noise, or with few calls differs from none.
func (m *Measure) errorsChanged() bool {
	for i, c := range m.Changes {
		if c.Verdict == Differs || c.Verdict == Few && (m.Values[0] == 0 || m.Values[i+1] == 0) {
			return true
		}
	}
	return false
}

// hasFrames reports whether the sizes of frames are compared.
func (m *Method) hasFrames() bool {
	return slices.ContainsFunc(m.Measures, func(x Measure) bool { return x.Name == RequestFrame })
}

// tableMeasures returns the measures of a method for a table, none if all changes are noise.
func (m *Method) tableMeasures() []*Measure {
	significant := make(map[string]bool) // by the name of the mean
	for i := range m.Measures {
		if name, ok := strings.CutSuffix(m.Measures[i].Name, " p50"); ok {
			significant[name] = m.Measures[i].significant()
		}
	}
	var list []*Measure
	for i := range m.Measures {
		x := &m.Measures[i]
		of, percentile, _ := strings.Cut(x.Name, " p")
		show := significant[of]
		switch {
		case m.hasFrames() && slices.Contains(bodies, x.Name): // shown beside the frames
			show = significant[x.Name+" frame"] && percentile == ""
		case x.Name == Wire: // it differs with every packet's headers
			show = significant[Request] || significant[Response] || significant[RequestFrame] || significant[ResponseFrame]
		case x.Name == Errors:
			show = x.errorsChanged()
		case x.Name == Latency:
			show = false
		case percentile != "" && of != Latency:
			show = show && !x.exact() || x.significant() && percentile == "50" && !x.exact() // else it is the mean
		}
		if show && !x.missing() {
			list = append(list, x)
		}
	}
	return list
}

// tableNames are the names of measures in tables, if they are not their own.
var tableNames = map[string]string{Request: "request mean", Response: "response mean", RequestFrame: "request frame mean", ResponseFrame: "response frame mean"}

// methodSections returns the changed methods. Those beyond the top ones are in a folded section, if folds.
func (c *Comparison) methodSections(s *report.Style, changed []*Method, folds bool) []report.Section {
	title := "METHODS that changed (request, response: body bytes)"
	if c.frames {
		title = "METHODS that changed (request, response: bytes of bodies, or of frames)"
	}
	if len(changed) == 0 {
		return []report.Section{{Title: "METHODS", Notes: []string{c.sameNote(len(c.Methods), true)}}}
	}
	shown := changed[:min(s.Rows(DefaultTop), len(changed))]
	rest := changed[len(shown):]
	table := func(title string, methods []*Method) report.Section {
		sec := report.Section{Title: title, Columns: c.columns("service/method", true)}
		for _, m := range methods {
			name := m.Name
			for _, x := range m.tableMeasures() {
				sec.Add(append([]string{name, cmp.Or(tableNames[x.Name], x.Name)}, c.row(x, s, true)...)...)
				name = ""
			}
		}
		return sec
	}
	sec := table(title, shown)
	if len(rest) > 0 && !folds {
		sec.Notes = append(sec.Notes, fmt.Sprintf("%s more changed (--top %d).", report.Count(int64(len(rest))), len(changed)))
	}
	if n := len(c.Methods) - len(changed); n > 0 {
		sec.Notes = append(sec.Notes, c.sameNote(n, false))
	}
	sec.Notes = append(sec.Notes, c.legend(changed)...)
	list := []report.Section{sec}
	if len(rest) > 0 && folds {
		more := table(fmt.Sprintf("%s more methods that changed", report.Count(int64(len(rest)))), rest)
		more.Folded = true
		list = append(list, more)
	}
	return list
}

func (c *Comparison) sameNote(n int, all bool) string {
	switch {
	case all && n == 1:
		return "The method that is in both is the same, or differs by no more than noise."
	case all:
		return fmt.Sprintf("All %s methods are the same, or differ by no more than noise.", report.Count(int64(n)))
	case n == 1:
		return "1 more method is the same, or differs by no more than noise."
	}
	return fmt.Sprintf("%s more methods are the same, or differ by no more than noise.", report.Count(int64(n)))
}

// legend explains the words of the table.
func (c *Comparison) legend(methods []*Method) []string {
	has, rates, noise := make(map[Verdict]bool), false, false
	for _, m := range methods {
		for _, x := range m.tableMeasures() {
			for _, ch := range x.Changes {
				rate := x.Name == Errors && (ch.Verdict == Differs || ch.Verdict == Noise)
				if rates = rates || rate; !rate {
					has[ch.Verdict] = true
				}
				noise = noise || ch.Verdict == Noise
			}
		}
	}
	var words []string
	if has[Exact] {
		words = append(words, "exact: all calls of a side have one size")
	}
	if has[Differs] || has[Noise] {
		words = append(words, "p: chance of such a shift of all values, shown at their median, between equal sides (Mann-Whitney U)")
	}
	if rates {
		words = append(words, "p of errors: chance of such a difference between equal sides (Fisher's exact test)")
	}
	if noise {
		words = append(words, fmt.Sprintf("~: noise, p >= %g", c.Alpha))
	}
	if has[Few] {
		words = append(words, "few: too few calls to tell")
	}
	if len(words) == 0 {
		return nil
	}
	return []string{strings.Join(words, "; ") + "."}
}

// onlySection returns the methods that are not in all sides.
func (c *Comparison) onlySection(s *report.Style, folds bool) report.Section {
	title := "NEW AND VANISHED METHODS, calls"
	sec := report.Section{Title: title, Folded: folds && len(c.Only) > DefaultTop}
	sec.Columns = []report.Column{{Name: "service/method", Names: true}}
	for _, label := range c.labels() {
		sec.Columns = append(sec.Columns, report.Column{Name: term.CutMiddle(label, 20), Right: true})
	}
	sec.Columns = append(sec.Columns, report.Column{Name: ""})
	top := max(s.Top, DefaultTop)
	for i, m := range c.Only {
		if i == top && !folds {
			sec.Notes = append(sec.Notes, fmt.Sprintf("%s more (--top %d).", report.Count(int64(len(c.Only)-top)), len(c.Only)))
			break
		}
		row := []string{m.Name}
		for _, n := range m.Calls {
			if n == 0 {
				row = append(row, "-")
			} else {
				row = append(row, report.Count(n))
			}
		}
		word := ""
		switch {
		case m.Calls[0] == 0:
			word = "new"
		case m.Measures == nil:
			word = "vanished"
		}
		sec.Add(append(row, word)...)
	}
	return sec
}

func (m *Measure) format(n Number, exact bool) string {
	if n.missing() {
		return "-"
	}
	v := float64(n)
	switch m.Unit {
	case Nanos:
		return report.Elapsed(int64(math.Round(v)))
	case Percent:
		return strconv.FormatFloat(v, 'f', 1, 64) + " %"
	}
	if exact && v != math.Trunc(v) {
		return strconv.FormatFloat(sizes.Round3(v), 'f', 3, 64)
	}
	return report.Size(v)
}

// changeText formats a change: of shares in percentage points, of other measures in percent.
func (m *Measure) changeText(i int, exact bool) string {
	c, before, after := &m.Changes[i], m.Values[0], m.Values[i+1]
	text := c.text(before, after, exact)
	if m.Unit != Percent || text == "-" || text == "=" || text == "~" {
		return text
	}
	digits := 1
	if exact {
		digits = 3
	}
	points := strconv.FormatFloat(math.Abs(float64(after-before)), 'f', digits, 64)
	if zero, _ := strconv.ParseFloat(points, 64); zero == 0 {
		points = "<" + strings.TrimSuffix(points, "0") + "1"
	}
	if after < before {
		return "-" + points + " points"
	}
	return "+" + points + " points"
}

// text formats the change in percent: "=" for no change, "~" for noise.
func (c *Change) text(before, after Number, exact bool) string {
	switch {
	case c.Verdict == Missing:
		return "-"
	case c.Verdict == Same:
		return "="
	case c.Verdict == Noise && !exact:
		return "~"
	case c.Ratio.missing():
		return "from 0"
	case before == after:
		return "="
	}
	sign := "+"
	if after < before {
		sign = "-"
	}
	p := math.Abs(100 * (float64(c.Ratio) - 1))
	switch {
	case exact:
		return sign + strconv.FormatFloat(p, 'f', 3, 64) + " %"
	case p < 0.05:
		return sign + "<0.1 %"
	case p >= 999.95:
		return "x " + strconv.FormatFloat(float64(c.Ratio), 'f', 1, 64)
	}
	return sign + strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// word returns the certainty of a change.
func (c *Change) word() string {
	switch c.Verdict {
	case Exact:
		return "exact"
	case Few:
		return "few"
	case Differs, Noise:
		if c.P < 0.001 {
			return "p<0.001"
		}
		return "p=" + strconv.FormatFloat(float64(c.P), 'f', 3, 64)
	}
	return ""
}

// writeCSV prints a row for each measure of each method and each side but the first.
func (c *Comparison) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var header []string
	for _, k := range c.By.Keys {
		header = append(header, string(k))
	}
	header = append(header, "measure", "unit", "before", "after", "callsBefore", "callsAfter", "valueBefore", "valueAfter", "ratio", "verdict", "p")
	_ = out.Write(header) // Error returns its error, too
	rows := func(m *Method, list ...Measure) {
		for _, x := range list {
			for i, ch := range x.Changes {
				_ = out.Write(slices.Concat(m.Values, []string{
					x.Name, string(x.Unit), c.Sides[0].Label, c.Sides[i+1].Label,
					strconv.FormatInt(m.Calls[0], 10), strconv.FormatInt(m.Calls[i+1], 10),
					x.Values[0].String(), x.Values[i+1].String(), ch.Ratio.String(), string(ch.Verdict), ch.P.String(),
				}))
			}
		}
	}
	for _, m := range c.Methods {
		rows(m, m.Measures...)
	}
	for _, m := range c.Only {
		if m.Measures == nil {
			rows(m, c.untested("calls", "", slices.Repeat([]Number{none}, len(c.Sides))))
		}
	}
	out.Flush()
	return out.Error()
}

// Schema names the layout of the JSON.
const Schema = "dubbo-wire/compare/1"

type jsonSide struct {
	Label           string   `json:"label"`
	Files           []string `json:"files"`
	Calls           int64    `json:"calls"`
	Seconds         float64  `json:"seconds"`
	CoveragePercent float64  `json:"coveragePercent"`
}

type jsonMix struct {
	Methods  int       `json:"methods"`
	Measures []Measure `json:"measures"`
}

func (c *Comparison) writeJSON(w io.Writer) error {
	out := struct {
		Schema  string      `json:"schema"`
		Sides   []jsonSide  `json:"sides"`
		Alpha   float64     `json:"alpha"`
		By      []sizes.Key `json:"by"`
		SameMix jsonMix     `json:"sameMix"`
		Methods []*Method   `json:"methods"`
		Only    []Method    `json:"notInAll"`
	}{Schema: Schema, Alpha: c.Alpha, By: c.By.Keys, SameMix: jsonMix{c.MixMethods, c.Mix}, Methods: append([]*Method{}, c.Methods...), Only: []Method{}}
	for _, s := range c.Sides {
		files := []string{}
		for i := range s.Report.Inputs {
			files = append(files, s.Report.Inputs[i].File)
		}
		out.Sides = append(out.Sides, jsonSide{s.Label, files, s.Report.Selected.Calls, s.Report.Seconds, s.Report.Percent()})
	}
	for _, m := range c.Only {
		one := *m
		one.Measures = nil // a method with measures is in Methods
		out.Only = append(out.Only, one)
	}
	return report.WriteJSON(w, out)
}
