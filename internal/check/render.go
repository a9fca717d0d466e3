package check

import (
	"fmt"
	"io"
	"math/big"
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
	add := func(n int, what string) {
		if n > 0 {
			words = append(words, report.Count(int64(n))+" "+what)
		}
	}
	add(r.Over, "over")
	add(r.Under, "under")
	add(r.Vanished, "vanished")
	add(r.New, "new")
	add(r.Within, "within")
	text := "no methods"
	if len(words) > 0 {
		first, rest, _ := strings.Cut(words[0], " ")
		noun := "methods"
		if first == "1" {
			noun = "method"
		}
		words[0] = first + " " + noun + " " + rest
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
	top := s.Top
	if top <= 0 {
		top = defaultTop
	}
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
	shown, hidden, newShown, newHidden := 0, 0, 0, 0
	var see []string
	for i := range r.Methods {
		m := &r.Methods[i]
		switch m.Status {
		case Over, Under, Vanished:
			if shown == top {
				hidden++
				continue
			}
			shown++
			m.addDrift(&drift)
			if command := r.explainCommand(m); command != "" && len(see) < 3 {
				see = append(see, report.Verbatim(command))
			}
		case New:
			if newShown == top {
				newHidden++
				continue
			}
			newShown++
			if m.Known {
				m.addNew(&unseen)
				continue
			}
			value := func(name string) string {
				for _, n := range m.Measures {
					if n.Name == name {
						return grouped(n.Is)
					}
				}
				return "-"
			}
			added.Add("+", m.Name, report.Count(m.Calls), value("request mean"), value("request max"), value("response mean"), value("response max"))
		}
	}
	if hidden > 0 {
		drift.Notes = append(drift.Notes, fmt.Sprintf("%s more drifted (--top %d).", report.Count(int64(hidden)), shown+hidden))
	}
	if len(see) > 0 {
		drift.Notes = append(drift.Notes, "What is over, byte by byte:")
		drift.Notes = append(drift.Notes, see...)
	}
	for _, s := range []report.Section{drift, unseen, added} {
		if len(s.Rows) > 0 {
			doc.Sections = append(doc.Sections, s)
		}
	}
	if newShown > 0 {
		last := &doc.Sections[len(doc.Sections)-1]
		if newHidden > 0 {
			last.Notes = append(last.Notes, fmt.Sprintf("%s more new (--top %d).", report.Count(int64(newHidden)), newShown+newHidden))
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
func (m *Method) newMeasures() (list []Measure) {
	for _, n := range m.Measures {
		if n.New {
			list = append(list, n)
		}
	}
	return list
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
		Schema      string    `json:"schema"`
		Golden      string    `json:"golden"`
		Tolerance   Tolerance `json:"tolerance"`
		Failed      bool      `json:"failed"`
		Updated     bool      `json:"updated"`
		Over        int       `json:"over"`
		Under       int       `json:"under"`
		Vanished    int       `json:"vanished"`
		New         int       `json:"new"`
		Within      int       `json:"within"`
		LeftOut     int       `json:"notAskedFor"`
		Coverage    float64   `json:"coveragePercent"`
		MinCoverage float64   `json:"minCoveragePercent"`
		Methods     []Method  `json:"methods"`
		Unused      []string  `json:"tolerancesOfNoMethod,omitempty"`
	}{
		Schema, r.Golden, r.Terms.All, r.Drifted() && !r.Updated || r.Low(), r.Updated, r.Over, r.Under, r.Vanished, r.New, r.Within, r.LeftOut,
		r.Coverage, r.MinCoverage, append([]Method{}, r.Methods...), r.Unused,
	})
}
