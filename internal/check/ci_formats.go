package check

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// maxAnnotations is the maximum number of methods with a workflow command; GitHub shows ten per step.
const maxAnnotations = 50

// writeGitHub prints a workflow command per method, and the summary. Names are untrusted: they must not end a command or start
// another one.
func (r *Result) writeGitHub(w io.Writer) error {
	var b strings.Builder
	command := func(level, title, message string) {
		fmt.Fprintf(&b, "::%s title=%s::%s\n", level, property(title), data(message))
	}
	n, left := 0, 0
	for i := range r.Methods {
		m := &r.Methods[i]
		level := "error"
		switch {
		case m.Status == Within:
			continue
		case !r.fails(m):
			level = "notice"
		}
		if n++; n > maxAnnotations {
			left++
			continue
		}
		text := m.Name + ": " + r.sentence(m)
		if command := r.explainCommand(m); command != "" {
			text += "\n" + command
		}
		command(level, "Sizes on the wire: "+string(m.Status), text)
	}
	if left > 0 {
		command("notice", "Sizes on the wire", fmt.Sprintf("%d more methods, see --format json", left))
	}
	for i := range r.Budgets {
		s := &r.Budgets[i]
		for k := range s.Methods[:min(len(s.Methods), maxAnnotations)] {
			text := s.Methods[k].Name + ": " + s.Methods[k].sentence(s)
			if command := r.explainCommand(&s.Methods[k].method); command != "" {
				text += "\n" + command
			}
			command("error", "Sizes on the wire: over budget", text)
		}
		if s.Status == NoCalls {
			level := "warning"
			if r.Strict {
				level = "error"
			}
			command(level, "Sizes on the wire: budget without calls", s.text()+": "+noCalls)
		}
	}
	for i, name := range r.Unused {
		if i == maxAnnotations {
			break
		}
		command("warning", "Sizes on the wire: tolerance without a method", name+": "+unusedText(1))
	}
	if r.Low() {
		command("error", "Coverage", fmt.Sprintf("%s of Dubbo's bytes are in complete frames, --min-coverage is %g %%", report.Coverage(r.Coverage), r.MinCoverage))
	}
	// The runner accepts commands in an older notation anywhere in a line.
	b.WriteString(strings.ReplaceAll(r.Summary(), "##[", "## [") + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// data and property escape texts for the runner.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(clean(s))
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(clean(s))
}

// clean applies term.Clean to every line.
func clean(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = term.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

type (
	junitSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Suite    junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Cases    []junitCase `xml:"testcase"`
		Out      string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Skipped *junitMessage `xml:"skipped"`
	}
	junitMessage struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit prints a test case per method and per budget, and one for the coverage if it has a minimum.
func (r *Result) writeJUnit(w io.Writer) error {
	suite := junitSuite{Name: strings.TrimSuffix("sizes on the wire: "+term.Clean(r.Golden), ": ")}
	add := func(c junitCase) {
		suite.Tests++
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Skipped != nil {
			suite.Skipped++
		}
		suite.Cases = append(suite.Cases, c)
	}
	for i := range r.Methods {
		m := &r.Methods[i]
		class := term.Clean(m.Service)
		c := junitCase{Class: cmp.Or(class, "dubbo-wire"), Name: strings.TrimPrefix(m.Name, class+"/")}
		switch {
		case m.Status == Within:
		case !r.fails(m):
			c.Skipped = &junitMessage{Message: r.sentence(m)}
		default:
			text := r.sentence(m)
			c.Failure = &junitMessage{Message: text, Type: string(m.Status), Text: text}
			if command := r.explainCommand(m); command != "" {
				c.Failure.Text += "\n" + command
			}
		}
		add(c)
	}
	for i := range r.Budgets {
		s := &r.Budgets[i]
		c := junitCase{Class: "budgets", Name: s.text()}
		switch {
		case s.Status == Over:
			f := &junitMessage{Message: report.Plural(int64(s.Over), "method") + " over the budget", Type: string(Over)}
			var lines []string
			for k := range s.Methods {
				o := &s.Methods[k]
				lines = append(lines, o.Name+": "+o.sentence(s))
				if command := r.explainCommand(&o.method); command != "" {
					lines = append(lines, command)
				}
			}
			f.Text = strings.Join(lines, "\n")
			c.Failure = f
		case s.Status == NoCalls && r.Strict:
			c.Failure = &junitMessage{Message: noCalls, Type: string(NoCalls), Text: noCalls}
		case s.Status == NoCalls:
			c.Skipped = &junitMessage{Message: noCalls}
		}
		add(c)
	}
	if r.MinCoverage > 0 {
		c := junitCase{Class: "dubbo-wire", Name: "coverage"}
		if r.Low() {
			text := fmt.Sprintf("%s, --min-coverage is %g %%", report.Coverage(r.Coverage), r.MinCoverage)
			c.Failure = &junitMessage{Message: text, Type: "coverage", Text: text}
		}
		add(c)
	}
	for _, name := range r.Unused {
		suite.Out += term.Clean(name) + ": " + unusedText(1) + "\n"
	}
	all := junitSuites{Name: "dubbo-wire check", Tests: suite.Tests, Failures: suite.Failures, Suite: suite}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", " ")
	if err := enc.Encode(&all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
