package check

import (
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"dubbo-wire/internal/report"
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
	var words []string
	for _, s := range statuses {
		switch n := int64(*r.count(s)); {
		case n == 0:
		case words == nil:
			words = append(words, report.Plural(n, "method")+" "+string(s))
		default:
			words = append(words, report.Count(n)+" "+string(s))
		}
	}
	text := "no methods"
	if words != nil {
		text = strings.Join(words, ", ")
	}
	text += "; golden " + term.Clean(r.Golden) + ", tolerance " + r.Terms.All.String()
	if r.LeftOut > 0 {
		text += ", " + report.Count(int64(r.LeftOut)) + " of it not asked for"
	}
	text += "; coverage " + report.Coverage(r.Coverage)
	if r.Low() {
		text += fmt.Sprintf(", below the %g %% of --min-coverage", r.MinCoverage)
	}
	if r.Updated {
		text += "; golden written anew"
	}
	return text
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
			if n.Percent > 0 {
				text = "+" + text
			}
			return text + " %"
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

func (r *Result) document(s *report.Style) *report.Document {
	doc := &report.Document{Summary: r.Summary(), Compact: true}
	top := s.Rows(defaultTop)
	drift := report.Section{Title: "DRIFT of body bytes", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "size"},
		{Name: "golden", Right: true},
		{Name: "now", Right: true},
		{Name: "change", Right: true},
		{Name: "allowed", Right: true},
	}}
	added := report.Section{Title: "NEW METHODS, not in the golden file", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "calls", Right: true},
		{Group: "request", Name: "mean", Right: true},
		{Group: "request", Name: "max", Right: true},
		{Group: "response", Name: "mean", Right: true},
		{Group: "response", Name: "max", Right: true},
	}}
	unseen := report.Section{Title: "NEW SIZES, of methods that the golden file has without them", Columns: []report.Column{
		{Name: ""},
		{Name: "service/method", Names: true},
		{Name: "calls", Right: true},
		{Name: "size"},
		{Name: "now", Right: true},
	}}
	drifted, news := r.methods(Over, Under, Vanished), r.methods(New)
	var see []string
	for _, m := range drifted[:min(top, len(drifted))] {
		m.addDrift(&drift)
		if command := r.explainCommand(m); command != "" && len(see) < 3 {
			see = append(see, report.Verbatim(command))
		}
	}
	if hidden := len(drifted) - top; hidden > 0 {
		drift.Notes = append(drift.Notes, fmt.Sprintf("%s more drifted (--top %d).", report.Count(int64(hidden)), len(drifted)))
	}
	if len(see) > 0 {
		drift.Notes = append(drift.Notes, "What is over, byte by byte:")
		drift.Notes = append(drift.Notes, see...)
	}
	for _, m := range news[:min(top, len(news))] {
		if m.Known {
			m.addNew(&unseen)
			continue
		}
		row := []string{"+", m.Name, report.Count(m.Calls)}
		for _, name := range []string{"request mean", "request max", "response mean", "response max"} {
			i := slices.IndexFunc(m.Measures, func(n Measure) bool { return n.Name == name })
			if i < 0 {
				row = append(row, "-")
			} else {
				row = append(row, grouped(m.Measures[i].Is))
			}
		}
		added.Add(row...)
	}
	for _, s := range []report.Section{drift, unseen, added} {
		if len(s.Rows) > 0 {
			doc.Sections = append(doc.Sections, s)
		}
	}
	if len(news) > 0 {
		last := &doc.Sections[len(doc.Sections)-1]
		if hidden := len(news) - top; hidden > 0 {
			last.Notes = append(last.Notes, fmt.Sprintf("%s more new (--top %d).", report.Count(int64(hidden)), len(news)))
		}
		if !r.Updated {
			what := "What is new does not fail the check (--strict does)"
			if r.Strict {
				what = "--strict fails on what is new"
			}
			last.Notes = append(last.Notes, what+"; --update takes it into the golden file.")
		}
	}
	if r.Drifted() && !r.Updated && len(drift.Rows) > 0 {
		last := &doc.Sections[len(doc.Sections)-1]
		last.Notes = append(last.Notes, "Where the drift is meant: the same command with --update.")
	}
	if len(r.Unused) > 0 {
		section := report.Section{Title: "TOLERANCES of no method", Columns: []report.Column{{Name: "service/method", Names: true}, {Name: "allowed", Right: true}}}
		for _, name := range r.Unused[:min(len(r.Unused), top)] {
			section.Add(name, r.Terms.Of[name].String())
		}
		section.Notes = append(section.Notes, unusedText(len(r.Unused))+".")
		doc.Sections = append(doc.Sections, section)
	}
	return doc
}

// methods returns the methods of some statuses.
func (r *Result) methods(statuses ...Status) (list []*Method) {
	for i := range r.Methods {
		if slices.Contains(statuses, r.Methods[i].Status) {
			list = append(list, &r.Methods[i])
		}
	}
	return list
}

// addDrift adds the drifted measures to a table.
func (m *Method) addDrift(sec *report.Section) {
	name := m.Name
	if m.Status == Vanished {
		sec.Add("x", name, "vanished", report.Count(m.Calls)+" calls", "no call", "", "")
		return
	}
	for _, n := range m.driftedMeasures() {
		mark := "x"
		if name == "" {
			mark = ""
		}
		allowed := m.Allowed.String()
		if n.New {
			allowed = ""
		}
		sec.Add(mark, name, n.Name, grouped(n.Was), grouped(n.Is), n.change(m.Allowed), allowed)
		name = ""
	}
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
		return `"tolerances" of the golden file name it, and neither that nor the run has it`
	}
	return `"tolerances" of the golden file name them, and neither that nor the run has them`
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

// explainCommand returns the command that shows a body of a method that is over: the largest body if its direction drifted, else the first call.
// It returns "" if there is no such command.
func (r *Result) explainCommand(m *Method) string {
	if m.Status != Over || r.Explain == "" {
		return ""
	}
	command := term.Clean(r.Explain)
	if l := m.Largest; l != nil {
		for _, n := range m.Measures {
			if n.Drift && string(n.Is) == strconv.FormatInt(l.BodyBytes, 10) {
				return command + " --frame " + strconv.FormatInt(l.Frame, 10)
			}
		}
	}
	for _, f := range [][2]string{{" --service ", m.Service}, {" --method ", m.Method}} {
		if f[1] != "" {
			command += f[0] + "'" + strings.ReplaceAll(term.Clean(f[1]), "'", `'\''`) + "'"
		}
	}
	return command
}

// sentence describes the drift of a method in one line.
func (m *Method) sentence() string {
	if m.Status == Vanished {
		return fmt.Sprintf("vanished: the golden file has %s calls, the run has none", report.Count(m.Calls))
	}
	var words []string
	list := m.driftedMeasures()
	if m.Status == New {
		list = m.newMeasures()
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
		text = "new, the golden file has none: " + text + "; --update takes it there"
	} else if m.Status == New {
		text = "new: " + text + "; --update takes it into the golden file"
	}
	return text
}

func (r *Result) writeJSON(w io.Writer) error {
	return report.WriteJSON(w, struct {
		Schema    string    `json:"schema"`
		Golden    string    `json:"golden"`
		Tolerance Tolerance `json:"tolerance"`
		Failed    bool      `json:"failed"`
		*Result
	}{Schema, r.Golden, r.Terms.All, r.Drifted() && !r.Updated || r.Low(), r})
}
