package check

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// Schema names the layout of the JSON.
const Schema = "dubbo-wire/check/1"

// Formats returns the formats of Write.
func Formats() []string { return []string{"table", "markdown", "json", "github", "junit"} }

// Write prints the result in one of the formats.
func (r *Result) Write(w io.Writer, format string, s report.Style) error {
	switch format {
	case "json":
		return r.writeJSON(w)
	case "github":
		return r.writeGitHub(w)
	case "junit":
		return r.writeJUnit(w)
	}
	return r.document(&s).Write(w, format, s)
}

// Summary returns the result in one line.
func (r *Result) Summary() string {
	var parts []string
	if r.Golden != "" {
		parts = append(parts, r.methodCounts())
	}
	if len(r.Budgets) > 0 {
		parts = append(parts, r.budgetCounts())
	}
	if r.Golden != "" {
		text := "golden " + term.Clean(r.Golden) + ", tolerance " + r.Terms.All.String()
		if r.GrowthOnly {
			text += ", growth only"
		}
		if r.LeftOut > 0 {
			text += fmt.Sprintf(", %s excluded by filters", report.Count(int64(r.LeftOut)))
		}
		parts = append(parts, text)
	}
	text := "coverage " + report.Coverage(r.Coverage)
	if r.Low() {
		text += fmt.Sprintf(", below the %g %% of --min-coverage", r.MinCoverage)
	}
	parts = append(parts, text)
	if r.Updated {
		parts = append(parts, "golden file updated")
	}
	return strings.Join(parts, "; ")
}

// methodCounts returns the numbers of methods by status.
func (r *Result) methodCounts() string {
	var words []string
	for _, s := range statuses {
		n := int64(*r.count(s))
		text := report.Count(n)
		if words == nil {
			text = report.Plural(n, "method")
		}
		switch {
		case n == 0:
		case s == Changed:
			words = append(words, text+" with another serialization")
		default:
			words = append(words, text+" "+string(s))
		}
	}
	if words == nil {
		return "no methods"
	}
	return strings.Join(words, ", ")
}

// budgetCounts returns the numbers of budgets by status.
func (r *Result) budgetCounts() string {
	var words []string
	for _, s := range []struct {
		status Status
		text   string
	}{{Over, "exceeded"}, {NoCalls, "without calls"}, {Within, "met"}} {
		n := r.budgets(s.status)
		text := report.Count(n)
		if words == nil {
			text = report.Plural(n, "budget")
		}
		if n > 0 {
			words = append(words, text+" "+s.text)
		}
	}
	return strings.Join(words, ", ")
}

// change formats the change of a measure in percent.
func (n *Measure) change(allowed Tolerance) string {
	switch {
	case n.Was == "":
		return "none before"
	case n.Is == "":
		return "none any more"
	case n.Percent == 0:
		return "from 0"
	}
	// Add digits until the text differs from 0 and, for a drift, from every allowed change.
	for digits := 1; ; digits++ {
		text := strconv.FormatFloat(n.Percent, 'f', digits, 64)
		shown, _ := new(big.Rat).SetString(text)
		if shown.Sign() != 0 && (!n.Drift || !allowed.covers(shown)) || digits > 12 {
			text = grouped(report.Number(strings.TrimPrefix(text, "-"))) + " %"
			if n.Percent > 0 {
				return "+" + text
			}
			return "-" + text
		}
	}
}

// grouped inserts thousands separators into a number.
func grouped(s report.Number) string {
	if s == "" {
		return "-"
	}
	whole, fraction, point := strings.Cut(string(s), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return string(s)
	}
	text := report.Count(n)
	if point {
		text += "." + fraction
	}
	return text
}

// defaultTop is the default number of methods in tables.
const defaultTop = 20

// document returns the tables: drift, changed serializations, budgets, new sizes and methods, unused tolerances.
func (r *Result) document(s *report.Style) *report.Document {
	doc := &report.Document{Summary: r.Summary(), Compact: true}
	top := s.Rows(defaultTop)
	var see []string
	show := func(m *Method) {
		if command := r.explainCommand(m); command != "" && len(see) < 3 {
			see = append(see, report.Verbatim(command))
		}
	}
	for _, sec := range []*report.Section{r.driftSection(top, show), r.changedSection(top), r.budgetSection(top, show)} {
		if len(sec.Rows) > 0 {
			doc.Sections = append(doc.Sections, *sec)
		}
	}
	if failing := len(doc.Sections); failing > 0 {
		last := &doc.Sections[failing-1]
		if len(see) > 0 {
			last.Notes = append(append(last.Notes, "What is over, byte by byte:"), see...)
		}
		if r.Drifted() {
			last.Notes = append(last.Notes, "If the change is intended, rerun with --update.")
		}
	}
	doc.Sections = append(doc.Sections, r.newSections(top)...)
	if len(r.Unused) > 0 {
		section := report.Section{Title: "TOLERANCES without a method", Columns: []report.Column{{Name: "service/method", Names: true}, {Name: "allowed", Right: true}}}
		for _, name := range r.Unused[:min(len(r.Unused), top)] {
			section.Add(term.Clean(name), r.Terms.Of[name].String())
		}
		section.Notes = append(section.Notes, unusedText(len(r.Unused))+".")
		doc.Sections = append(doc.Sections, section)
	}
	return doc
}

// hidden adds the number of rows that a section leaves out.
func hidden(sec *report.Section, all, top int, what string) {
	if n := all - top; n > 0 {
		sec.Notes = append(sec.Notes, fmt.Sprintf("%s more %s (--top %d).", report.Count(int64(n)), what, all))
	}
}

// mark returns the first column of a method: x if it fails.
func (r *Result) mark(m *Method) string {
	if r.fails(m) || r.Updated {
		return "x"
	}
	return "-"
}

func (r *Result) driftSection(top int, show func(*Method)) *report.Section {
	sec := &report.Section{Title: "DRIFT of body bytes", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "size"},
		{Name: "golden", Right: true},
		{Name: "now", Right: true},
		{Name: "change", Right: true},
		{Name: "allowed", Right: true},
	}}
	list := r.methods(Over, Under, Vanished)
	shrunk := false
	for _, m := range list[:min(top, len(list))] {
		shrunk = r.addDrift(sec, m) || shrunk
		show(m)
	}
	hidden(sec, len(list), top, "drifted")
	if shrunk {
		sec.Notes = append(sec.Notes, "-: sizes that only shrank do not fail the check (--growth-only).")
	}
	return sec
}

func (r *Result) changedSection(top int) *report.Section {
	sec := &report.Section{Title: "CHANGED SERIALIZATION", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "golden"},
		{Name: "now"},
		{Name: "body bytes", Wrap: true},
	}}
	list := r.methods(Changed)
	for _, m := range list[:min(top, len(list))] {
		sec.Add(r.mark(m), m.Name, m.From, m.To, m.changedSizes())
	}
	hidden(sec, len(list), top, "changed")
	return sec
}

func (r *Result) budgetSection(top int, show func(*Method)) *report.Section {
	sec := &report.Section{Title: "BUDGETS of body bytes", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "size"},
		{Name: "budget", Right: true},
		{Name: "now", Right: true},
		{Name: "over", Right: true},
	}}
	rows := 0
	for i := range r.Budgets {
		s := &r.Budgets[i]
		for k := range s.Methods {
			if rows++; rows <= top {
				o := &s.Methods[k]
				sec.Add("x", o.Name, s.Size, report.Count(s.Limit), grouped(o.Now), o.change())
				show(&o.method)
			}
		}
		if s.Status != NoCalls {
			continue
		}
		if rows++; rows <= top {
			mark := "!"
			if r.Strict {
				mark = "x"
			}
			sec.Add(mark, term.Clean(s.Pattern), s.Size, report.Count(s.Limit), "no calls", "")
		}
	}
	hidden(sec, rows, top, "over or without calls")
	if n := r.budgets(NoCalls); n > 0 && !r.Strict {
		sec.Notes = append(sec.Notes, "!: "+noCalls+". It does not fail the check (--strict does).")
	}
	return sec
}

// newSections returns the tables of methods and sizes that the golden file lacks.
func (r *Result) newSections(top int) (list []report.Section) {
	added := report.Section{Title: "NEW METHODS, not in the golden file", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "calls", Right: true},
		{Group: "request", Name: "mean", Right: true},
		{Group: "request", Name: "max", Right: true},
		{Group: "response", Name: "mean", Right: true},
		{Group: "response", Name: "max", Right: true},
	}}
	unseen := report.Section{Title: "NEW SIZES of methods in the golden file", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "calls", Right: true},
		{Name: "size"},
		{Name: "now", Right: true},
	}}
	news := r.methods(New)
	for _, m := range news[:min(top, len(news))] {
		if m.Known {
			m.addNew(&unseen)
			continue
		}
		row := []string{"+", m.Name, report.Count(m.Calls)}
		for _, name := range []string{"request mean", "request max", "response mean", "response max"} {
			text := "-"
			if n := m.measure(name); n != nil {
				text = grouped(n.Is)
			}
			row = append(row, text)
		}
		added.Add(row...)
	}
	for _, s := range []report.Section{unseen, added} {
		if len(s.Rows) > 0 {
			list = append(list, s)
		}
	}
	if len(list) > 0 {
		last := &list[len(list)-1]
		hidden(last, len(news), top, "new")
		if !r.Updated {
			what := "New methods and sizes do not fail the check (--strict does)"
			if r.Strict {
				what = "--strict fails on new methods and sizes"
			}
			last.Notes = append(last.Notes, what+"; --update adds them to the golden file.")
		}
	}
	return list
}

// measure returns a measure by its name, or nil.
func (m *Method) measure(name string) *Measure {
	for i := range m.Measures {
		if m.Measures[i].Name == name {
			return &m.Measures[i]
		}
	}
	return nil
}

// changedSizes describes the sizes of a method whose serialization changed: the means, and what else grew.
func (m *Method) changedSizes() string {
	var words []string
	for i := range m.Measures {
		n := &m.Measures[i]
		direction, isMean := strings.CutSuffix(n.Name, " mean")
		if mean := m.measure(strings.Fields(n.Name)[0] + " mean"); !isMean && (!n.fatal() || mean.fatal()) {
			continue
		}
		switch {
		case n.Was == "":
			words = append(words, n.Name+" "+grouped(n.Is))
		case n.Is == "":
			words = append(words, "no "+direction+" any more")
		case n.Was == n.Is:
			words = append(words, n.Name+" "+grouped(n.Is))
		default:
			words = append(words, fmt.Sprintf("%s %s -> %s (%s)", n.Name, grouped(n.Was), grouped(n.Is), n.change(m.Allowed)))
		}
	}
	return strings.Join(words, ", ")
}

// methods returns the methods of some statuses, those that fail first.
func (r *Result) methods(statuses ...Status) (list []*Method) {
	var passing []*Method
	for i := range r.Methods {
		switch m := &r.Methods[i]; {
		case !slices.Contains(statuses, m.Status):
		case r.fails(m):
			list = append(list, m)
		default:
			passing = append(passing, m)
		}
	}
	return append(list, passing...)
}

// addDrift adds the drifted measures of a method to a table, those that fail first, and reports whether some only shrank and do not fail.
func (r *Result) addDrift(sec *report.Section, m *Method) (shrunk bool) {
	mark, name := r.mark(m), m.Name
	if m.Status == Vanished {
		sec.Add(mark, name, "vanished", m.goldenCalls(), "no calls", "", "")
		return mark == "-"
	}
	failing, passing := r.driftOf(m)
	for i, n := range append(failing, passing...) {
		allowed := m.Allowed.String()
		switch {
		case n.New:
			allowed = ""
		case i >= len(failing):
			mark, shrunk = "-", true
		}
		sec.Add(mark, name, n.Name, grouped(n.Was), grouped(n.Is), n.change(m.Allowed), allowed)
		mark, name = "", ""
	}
	return shrunk
}

// driftOf returns the drifted and new measures of a method: those that fail, or new ones, and those that --growth-only allows.
func (r *Result) driftOf(m *Method) (failing, passing []Measure) {
	for _, n := range m.driftedMeasures() {
		if r.GrowthOnly && !r.Updated && n.Drift && !n.fatal() {
			passing = append(passing, n)
		} else {
			failing = append(failing, n)
		}
	}
	return failing, passing
}

// goldenCalls returns the number of calls of a vanished method, if the golden file has it.
func (m *Method) goldenCalls() string {
	if m.Calls == 0 {
		return ""
	}
	return report.Plural(m.Calls, "call")
}

// addNew adds the measures that the golden file lacks to a table.
func (m *Method) addNew(sec *report.Section) {
	mark, name, calls := "+", m.Name, report.Count(m.Calls)
	for _, n := range m.newMeasures() {
		sec.Add(mark, name, calls, n.Name, grouped(n.Is))
		mark, name, calls = "", "", ""
	}
}

// unusedText describes the problem of unused tolerances.
func unusedText(n int) string {
	if n == 1 {
		return `"tolerances" in the golden file names this method, but neither the golden file nor the run has it`
	}
	return `"tolerances" in the golden file names these methods, but neither the golden file nor the run has them`
}

// newMeasures returns the new measures.
func (m *Method) newMeasures() []Measure {
	return slices.DeleteFunc(slices.Clone(m.Measures), func(n Measure) bool { return !n.New })
}

// driftedMeasures returns the drifted and new measures. If all bodies of a direction have one size, before and now, it returns one measure for it.
func (m *Method) driftedMeasures() (list []Measure) {
	for i := 0; i < len(m.Measures); i++ {
		n := m.Measures[i]
		if !n.Drift && !n.New {
			continue
		}
		if direction, ok := strings.CutSuffix(n.Name, " mean"); ok && i+2 < len(m.Measures) {
			p99, most := m.Measures[i+1], m.Measures[i+2]
			if n.Was == p99.Was && n.Was == most.Was && n.Is == p99.Is && n.Is == most.Is {
				n.Name = direction + " (all)"
				i += 2
			}
		}
		list = append(list, n)
	}
	return list
}

// explainFlags are the flags of explain that choose the calls of a key.
var explainFlags = map[sizes.Key]string{
	sizes.Protocol: "protocol", sizes.Serialization: "serialization", sizes.Service: "service", sizes.Method: "method",
	sizes.Client: "client", sizes.Server: "server",
}

// explainCommand returns the command that shows a message of the direction that is over: the largest one, or the first of at least the
// maximum, p99 or mean that is over. It returns "" if there is no such command.
func (r *Result) explainCommand(m *Method) string {
	if m.Status != Over || r.Explain == "" {
		return ""
	}
	command := term.Clean(r.Explain)
	direction, least := m.outlier()
	if frame := m.largestIn(direction); frame > 0 {
		return command + " --frame " + strconv.FormatInt(frame, 10)
	}
	for i, k := range m.by.Keys {
		if flag, ok := explainFlags[k]; ok && m.values[i] != "" {
			command += " --" + flag + " '" + strings.ReplaceAll(term.Clean(m.values[i]), "'", `'\''`) + "'"
		}
	}
	if least > 0 {
		command += " --min-" + direction + " " + strconv.FormatInt(least, 10)
	}
	if direction == "response" {
		command += " --response"
	}
	return command
}

// outlier returns the direction of the size to explain, and the least length of a body that it is about.
func (m *Method) outlier() (direction string, least int64) {
	for _, name := range []string{"max", "p99", "mean"} {
		for i := range m.Measures {
			n := &m.Measures[i]
			if of, ok := strings.CutSuffix(n.Name, " "+name); ok && n.Drift && n.over {
				size, _ := strconv.ParseFloat(string(n.Is), 64)
				return of, int64(math.Ceil(size))
			}
		}
	}
	return "request", 0
}

// largestIn returns the frame with the largest body of a direction, 0 if it is unknown.
func (m *Method) largestIn(direction string) int64 {
	switch {
	case direction == "response":
		return m.group.LargestOK
	case m.Largest != nil && m.group.Request.Body.Max > m.group.Response().Body.Max:
		return m.Largest.Frame
	}
	return 0
}

// sentence describes the drift of a method in one line. If sizes of it fail, it omits those that --growth-only allows.
func (r *Result) sentence(m *Method) string {
	switch m.Status {
	case Vanished:
		return "vanished: the golden file has it, the run has no calls"
	case Changed:
		return "serialization " + m.From + " -> " + m.To + ", " + m.changedSizes()
	}
	var words []string
	list, passing := r.driftOf(m)
	if m.Status == New {
		list = m.newMeasures()
	} else if !r.fails(m) {
		list = append(list, passing...)
	}
	for _, n := range list {
		switch {
		case m.Status == New:
			if strings.HasSuffix(n.Name, " mean") {
				words = append(words, n.Name+" "+grouped(n.Is))
			}
		case n.New:
			words = append(words, n.Name+" "+grouped(n.Is)+" ("+n.change(m.Allowed)+")")
		default:
			words = append(words, fmt.Sprintf("%s %s -> %s (%s, allowed %s)", n.Name, grouped(n.Was), grouped(n.Is), n.change(m.Allowed), m.Allowed))
		}
	}
	text := strings.Join(words, ", ")
	if m.Status == New && m.Known {
		text = "new in the run: " + text + "; --update adds it to the golden file"
	} else if m.Status == New {
		text = "new method: " + text + "; --update adds it to the golden file"
	}
	return text
}

func (r *Result) writeJSON(w io.Writer) error {
	for i := range r.Methods {
		r.Methods[i].Failed = r.fails(&r.Methods[i])
	}
	var tolerance *Tolerance
	if r.Golden != "" {
		tolerance = &r.Terms.All
	}
	return report.WriteJSON(w, struct {
		Schema     string     `json:"schema"`
		Golden     string     `json:"golden,omitempty"`
		Tolerance  *Tolerance `json:"tolerance,omitempty"`
		GrowthOnly bool       `json:"growthOnly,omitempty"`
		Failed     bool       `json:"failed"`
		*Result
	}{Schema, r.Golden, tolerance, r.GrowthOnly, r.Failed(), r})
}
