package measure

import (
	"slices"
	"strings"

	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/report/page"
)

// Print says how to print a report.
type Print struct {
	Output                         *output.Options
	Sort                           string
	Top                            int
	Findings, SameMethods, Buckets bool
	Sections                       []string // of tables and Markdown; nil for all
}

// Print writes the report to all targets. explain is the command that shows a frame, or "".
func (p *Print) Print(targets []*output.Target, r *report.Report, explain string) error {
	r.SortBy(p.Sort)
	if p.SameMethods {
		r.KeepSameMethods()
		r.Filter = strings.TrimSpace(r.Filter + " --same-methods")
	}
	return p.Output.Print(targets, func(t *output.Target, st report.Style) error {
		st.Top, st.Explain, st.Sections = p.Top, explain, p.Sections
		return p.printTo(t, r, st)
	})
}

// Open opens the targets of the report and adds their formats to cfg.
func (p *Print) Open(places *output.Places, cfg *Config) ([]*output.Target, error) {
	all, err := p.Output.Open(places)
	if err == nil && p.Sections != nil && !output.Any(all, "table", "markdown") {
		output.Discard(all)
		return nil, exit.Usagef("--sections chooses what tables and markdown print; %s has a fixed content", all[0].Format)
	}
	for _, t := range all {
		cfg.Formats = append(cfg.Formats, t.Format)
		if p.Findings && !slices.Contains(report.FindingsFormats, t.Format) {
			output.Discard(all)
			return nil, exit.Usagef("--findings cannot be printed as %s; choose from %s", t.Format, strings.Join(report.FindingsFormats, ", "))
		}
	}
	return all, err
}

// printTo writes the report in one format.
func (p *Print) printTo(t *output.Target, r *report.Report, st report.Style) error {
	if p.Findings {
		return r.WriteFindings(t.W, t.Format, st)
	}
	switch t.Format {
	case "json":
		return r.WriteJSON(t.W, p.Buckets)
	case "jsonl":
		return r.WriteLine(t.W)
	case "html":
		return page.Write(t.W, r, st)
	case "pprof":
		return r.WritePprof(t.W)
	case "folded":
		return r.WriteFolded(t.W)
	}
	return r.Write(t.W, t.Format, st)
}
