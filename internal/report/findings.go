package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"dubbo-wire/internal/term"
)

// FindingsSchema names the layout of the JSON of findings alone.
const FindingsSchema = "dubbo-wire/findings/1"

// FindingsBasis is the data that findings are based on.
type FindingsBasis struct {
	Rules int `json:"rules"`
	// Calls is the number of calls, Sampled the number of their messages that were sampled.
	Calls   int64 `json:"calls"`
	Sampled int64 `json:"messagesLookedInto"`
	// Methods and Clients are counted separately; OtherCalls and OtherClientCalls are the calls of all others.
	Methods          int   `json:"methods"`
	Clients          int   `json:"clients"`
	OtherCalls       int64 `json:"callsOfOtherMethods,omitempty"`
	OtherClientCalls int64 `json:"callsOfOtherClients,omitempty"`
	// OtherFailures are failed calls of further causes.
	OtherFailures int64 `json:"failuresOfOtherCauses,omitempty"`
}

const (
	// screenFindings is the maximum number of findings between other sections, findingsPerKind that of one kind.
	screenFindings, findingsPerKind = 8, 2
	// longSubject is the maximum width of the names in front of findings.
	longSubject = 28
)

// findingsSection returns the first findings of each kind, for a report with other sections. It has no title if rules did not run.
func (r *Report) findingsSection(s *Style) Section {
	if r.Basis == nil || r.Basis.Calls == 0 && len(r.Findings) == 0 {
		return Section{}
	}
	shown := r.selectFindings()
	sec := r.findingsTable(shown, s, false)
	for _, f := range shown {
		if f.Frame > 0 && s.Explain != "" {
			sec.Notes = append(sec.Notes, "See a frame:", Verbatim(s.Explain+" --frame N"))
			break
		}
	}
	if more := len(r.Findings) - len(shown); more > 0 {
		left := make(map[string]int64)
		for i := range r.Findings {
			left[r.Findings[i].Kind]++
		}
		for _, f := range shown {
			left[f.Kind]--
		}
		var words []string
		for _, k := range byCount(left) {
			if left[k] > 0 {
				words = append(words, fmt.Sprintf("%s %s", k, Count(left[k])))
			}
		}
		sec.Notes = append(sec.Notes, fmt.Sprintf("%s more: --findings (%s)", Count(int64(more)), strings.Join(words, ", ")))
	}
	return sec
}

// selectFindings returns the first finding of each kind and, if there is room, the second ones, in their order.
func (r *Report) selectFindings() []*Finding {
	nth := make([]int, len(r.Findings)) // of its kind
	kinds := make(map[string]int)
	for i := range r.Findings {
		kinds[r.Findings[i].Kind]++
		nth[i] = kinds[r.Findings[i].Kind]
	}
	taken := make([]bool, len(r.Findings))
	left := screenFindings
	for round := 1; round <= findingsPerKind; round++ {
		for i := range nth {
			if nth[i] == round && left > 0 {
				taken[i] = true
				left--
			}
		}
	}
	shown := make([]*Finding, 0, screenFindings)
	for i := range taken {
		if taken[i] {
			shown = append(shown, &r.Findings[i])
		}
	}
	return shown
}

// findingsTable returns a table of findings with their subjects. With commands, the command that shows a finding is below it;
// else the frame number follows the text.
func (r *Report) findingsTable(list []*Finding, s *Style, commands bool) Section {
	const title = "FINDINGS"
	sec := Section{Title: title, Notes: r.basisNotes()}
	if len(list) == 0 {
		if b := r.Basis; b != nil {
			sec.Title = fmt.Sprintf("No findings (%s; %s, %s sampled)", Plural(int64(b.Rules), "rule"),
				Plural(b.Calls, "call"), plural(b.Sampled, "body", "bodies"))
		} else {
			sec.Title = "No findings"
		}
		return sec
	}
	sec.Columns = []Column{
		{Name: "", Names: true, least: len(title)},
		{Name: "", Wrap: true},
	}
	names := subjects(list)
	for i, f := range list {
		text := f.Text
		if !commands && f.Frame > 0 {
			text += fmt.Sprintf(" (frame %s)", formatFrame(f.Frame))
		}
		sec.add(s, textCell(names[i]), textCell(term.Clean(text)))
		if c := r.Command(f, s.Explain); commands && c != "" {
			sec.add(s, textCell(""), textCell(Verbatim(term.Clean(c))))
		}
	}
	return sec
}

// subjects returns the names in front of findings. Names of methods have no package if they are distinct without it.
func subjects(list []*Finding) []string {
	names := make([]string, len(list))
	var methods []string
	for i, f := range list {
		names[i] = term.Clean(f.Subject)
		if f.Service != "" {
			methods = append(methods, names[i])
		}
	}
	methods = ShortNames(methods, 2)
	for i, f := range list {
		if f.Service != "" {
			names[i], methods = methods[0], methods[1:]
		}
		of := ""
		if f.Protocol != "" {
			of = " (" + term.Clean(f.Protocol) + ")"
		}
		names[i] = term.CutLeft(names[i], longSubject-term.Width(of)) + of
	}
	return names
}

// basisNotes describes the calls that findings do not cover.
func (r *Report) basisNotes() []string {
	b := r.Basis
	if b == nil {
		return nil
	}
	var notes []string
	if b.OtherCalls > 0 {
		notes = append(notes, fmt.Sprintf("Findings cover the first %s. They leave out %s of others.",
			Plural(int64(b.Methods), "method"), Plural(b.OtherCalls, "call")))
	}
	if b.OtherClientCalls > 0 {
		notes = append(notes, fmt.Sprintf("Findings about clients cover the first %s. They leave out %s of others.",
			Plural(int64(b.Clients), "client"), Plural(b.OtherClientCalls, "call")))
	}
	if b.OtherFailures > 0 {
		notes = append(notes, fmt.Sprintf("Findings about failures leave out %s of further causes.", Plural(b.OtherFailures, "call")))
	}
	return notes
}

// Command returns the command line that shows a finding, with the filters of the report. explain is the command that shows a frame of
// the same inputs, without its number, or "".
func (r *Report) Command(f *Finding, explain string) string {
	files, ok := strings.CutPrefix(explain, explainVerb)
	switch {
	case !ok:
		return ""
	case f.Verb != "":
		words := append([]string{"dubbo-wire", f.Verb, files}, listOf(f.Args, ShellWord)...)
		for _, x := range r.Filters {
			if x[0] == "--route" || !slices.Contains(f.Args, x[0]) { // else the finding's own value is the narrower one
				words = append(words, x[0], ShellWord(x[1]))
			}
		}
		return strings.Join(words, " ")
	case f.Frame > 0:
		return explain + " --frame " + formatFrame(f.Frame)
	}
	return ""
}

const explainVerb = "dubbo-wire explain "

// explain returns the command that shows a frame of the inputs, without its number, or "" if packets were not read from files.
func (r *Report) explain() string {
	if slices.ContainsFunc(r.Inputs, func(in Input) bool { return in.Format == "" || in.Format == "live" || in.File == "-" }) {
		return ""
	}
	return explainVerb + strings.Join(listOf(r.Inputs, func(in Input) string { return ShellWord(in.File) }), " ")
}

// ShellWord quotes what a shell would take apart.
func ShellWord(s string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:,=+@%", c) || c > 0x7f
	}
	if s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !plain(c) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// FindingsFormats are what WriteFindings takes.
var FindingsFormats = []string{"table", "markdown", "json", "jsonl"}

// WriteFindings prints the findings alone, all of them.
func (r *Report) WriteFindings(w io.Writer, format string, s Style) error {
	switch format {
	case "json", "jsonl":
		return writeJSON(w, r.jsonFindings(), format == "jsonl")
	}
	all := make([]*Finding, len(r.Findings))
	for i := range r.Findings {
		all[i] = &r.Findings[i]
	}
	d := &Document{Summary: r.summary(&s), Sections: []Section{r.findingsTable(all, &s, true)}}
	if slices.Contains(FindingsFormats, format) {
		return d.Write(w, format, s)
	}
	return fmt.Errorf("findings have no format %q: choose from %s", format, strings.Join(FindingsFormats, ", "))
}

// jsonFindings is the findings as JSON.
type jsonFindings struct {
	Schema   string         `json:"schema"`
	Inputs   []Input        `json:"inputs"`
	Basis    *FindingsBasis `json:"basis,omitempty"`
	Findings []jsonFinding  `json:"findings"`
}

type jsonFinding struct {
	Kind     string  `json:"kind"`
	Protocol string  `json:"protocol,omitempty"`
	Subject  string  `json:"subject"`
	Service  *string `json:"service,omitempty"`
	Method   *string `json:"method,omitempty"`
	Text     string  `json:"text"`
	Facts    members `json:"facts"`
	Bytes    int64   `json:"bytes"`
	File     *string `json:"file,omitempty"`
	Frame    int64   `json:"frame,omitempty"`
	Command  string  `json:"command,omitempty"`
}

func (r *Report) jsonFindings() *jsonFindings {
	explain := r.explain()
	return &jsonFindings{FindingsSchema, r.jsonInputs(), r.Basis, listOf(r.Findings, func(f Finding) jsonFinding {
		j := jsonFinding{Kind: f.Kind, Protocol: f.Protocol, Subject: f.Subject, Text: f.Text, Bytes: f.Weight, Command: r.Command(&f, explain)}
		if f.Service != "" || f.Method != "" {
			j.Service, j.Method = &f.Service, &f.Method
		}
		for _, x := range f.Facts {
			var value any = x.Value
			switch {
			case x.Names != nil:
				value = x.Names
			case x.Text != "":
				value = x.Text
			}
			j.Facts = append(j.Facts, member{x.Name, value})
		}
		if f.Frame > 0 {
			j.Frame = f.Frame
			if f.File >= 0 && f.File < len(r.Inputs) {
				j.File = &r.Inputs[f.File].File
			}
		}
		return j
	})}
}
