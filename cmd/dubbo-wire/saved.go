package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
)

// measuring is what is asked of inputs: analyze, compare and check measure alike.
type measuring struct {
	by        sizes.By
	byGiven   bool // else a saved report may be grouped by something else
	filter    *filter
	flags     *filterFlags
	maxGroups int
}

// inputs are FILE arguments: captures, and saved reports that have been read.
type inputs struct {
	captures []string
	saved    []*report.Report
	failed   []report.Input // look like reports and cannot be read
	// The arguments that these were, from 0.
	captureAt, savedAt, failedAt []int
}

// sort tells saved reports from captures by their content, and reads them.
func (i *inputFlags) sort(s *streams, args []string) (*inputs, error) {
	in := &inputs{}
	labels, err := parseLabels(args)
	if err != nil {
		return nil, err
	}
	stdin := false
	for k, arg := range args {
		from, done := i.sniffed(s, labels.paths[k], &stdin)
		var r *report.Report
		var err error
		if from != nil {
			r, err = report.Read(from)
		}
		done()
		switch {
		case err != nil:
			in.failed = append(in.failed, report.Input{File: arg, Err: labels.paths[k] + " " + err.Error()})
			in.failedAt = append(in.failedAt, k)
		case r != nil:
			r.Origin, r.Label = labels.paths[k], labels.names[k]
			in.saved, in.savedAt = append(in.saved, r), append(in.savedAt, k)
		default:
			in.captures, in.captureAt = append(in.captures, arg), append(in.captureAt, k)
		}
	}
	if len(in.captures) == 0 && i.stop != nil {
		i.stop.Release()
		i.stop = nil
	}
	if len(in.captures)+len(in.saved) == 0 {
		lines := make([]string, len(in.failed))
		for k := range in.failed {
			lines[k] = in.failed[k].Err
		}
		return nil, exit.Errorf(exit.Nothing, "%s", strings.Join(lines, "\n"))
	}
	return in, nil
}

// sniffed returns the reader of an argument that is a saved report; nil where it is none: then what was read to know that
// is put back. done ends the reading.
func (i *inputFlags) sniffed(s *streams, arg string, stdin *bool) (body io.Reader, done func()) {
	done = func() {}
	if arg == "-" {
		if *stdin {
			return nil, done // whoever opens captures says so
		}
		*stdin = true
		i.catch(s)
		body, whole := sniff(i.stop.Reader(s.in))
		if body == nil {
			i.stdin = whole
		}
		return body, done
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
	case info.Mode().Type() == os.ModeNamedPipe:
		i.catch(s)
		body, whole := sniff(i.stop.Reader(&laterFile{path: arg}))
		if body == nil {
			i.pipes = append(i.pipes, whole)
		}
		return body, done
	case info.Mode().IsRegular():
		f, err := os.Open(arg)
		if err != nil {
			break
		}
		body, _ = sniff(f)
		if body == nil {
			_ = f.Close()
			break
		}
		return body, func() { _ = f.Close() }
	}
	return nil, done // whoever opens captures says what is wrong
}

// laterFile is opened by the first read: opening a named pipe waits for whoever writes into it.
type laterFile struct {
	path string
	f    *os.File
}

func (l *laterFile) Read(p []byte) (int, error) {
	if l.f == nil {
		f, err := os.Open(l.path)
		if err != nil {
			return 0, err
		}
		l.f = f
	}
	return l.f.Read(p)
}

// maxSniffed is how many bytes of white space may stand in front of a report.
const maxSniffed = 512

// sniff tells whether a JSON object comes from r, also compressed: then body is it. Else whole is all that r gives.
func sniff(r io.Reader) (body, whole io.Reader) {
	rec := &recorder{r: r, on: true}
	b := bufio.NewReaderSize(rec, 4096)
	start, _ := b.Peek(4)
	switch {
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		if z, err := gzip.NewReader(b); err == nil {
			b = bufio.NewReader(z)
		}
	case len(start) == 4 && (bytes.Equal(start, []byte("\x28\xb5\x2f\xfd")) || start[0]&0xf0 == 0x50 && string(start[1:]) == "\x2a\x4d\x18"):
		if z, err := zstd.NewReader(b, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(128<<20)); err == nil {
			b = bufio.NewReader(z)
		}
	}
	for n := 1; n <= maxSniffed; n++ {
		p, err := b.Peek(n)
		if err != nil {
			break
		}
		switch p[n-1] {
		case ' ', '\t', '\r', '\n':
			continue
		case '{':
			rec.on, rec.seen = false, nil
			return b, nil
		}
		break
	}
	rec.on = false
	return nil, io.MultiReader(bytes.NewReader(rec.seen), r)
}

// recorder remembers what was read through it.
type recorder struct {
	r    io.Reader
	on   bool
	seen []byte
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.on {
		r.seen = append(r.seen, p[:n]...)
	}
	return n, err
}

// measure reads all inputs and adds them up: captures together in one run, saved reports beside it. readErr says what could
// not be read, as inputFlags.read does; err that there is no report.
func (i *inputFlags) measure(s *streams, in *inputs, m measuring) (r *report.Report, readErr, err error) {
	if err := m.fits(in); err != nil {
		return nil, nil, err
	}
	by := m.grouping(in)
	var list []*report.Report
	var places []int // of inputs among the arguments
	for k, r := range in.saved {
		if !m.filter.empty {
			if err := r.Select(m.flags.byKey(), m.flags.text()); err != nil {
				return nil, nil, exit.Usagef("%v", err)
			}
		}
		if err := r.Regroup(by); err != nil {
			return nil, nil, exit.Usagef("%v", err)
		}
		list = append(list, r)
		for range r.Inputs {
			places = append(places, in.savedAt[k])
		}
	}
	var lines []string
	if len(in.captures) > 0 {
		r, sources, readErr, err := i.measureCaptures(s, in, m, by)
		switch {
		case err != nil && (len(list) == 0 || capture.CauseOf(err) == 0):
			return nil, nil, err
		case err != nil: // the saved ones are there
			texts := strings.Split(err.Error(), "\n")
			for k, c := range in.captures {
				in.failed = append(in.failed, report.Input{File: c, Err: texts[min(k, len(texts)-1)]})
				in.failedAt = append(in.failedAt, in.captureAt[k])
			}
		default:
			list = append(list, r)
			for _, n := range sources {
				places = append(places, in.captureAt[n])
			}
		}
		if readErr != nil {
			lines = append(lines, readErr.Error())
		}
	}
	r, err = report.Merge(list, m.maxGroups)
	if err != nil {
		return nil, nil, exit.Usagef("%v", err)
	}
	for _, f := range in.failed {
		r.Inputs = append(r.Inputs, f)
		lines = append(lines, f.Err)
	}
	r.OrderInputs(append(places, in.failedAt...))
	if len(lines) > 0 {
		readErr = exit.Errorf(exit.Partly, "%s", strings.Join(lines, "\n"))
	}
	return r, readErr, nil
}

// selectedGroups is the sink of a run that only adds calls up.
type selectedGroups struct{ *sizes.Aggregator }

func (selectedGroups) Frame(*pipeline.Row) {}

func (g selectedGroups) Call(c *call.Call, selected bool) {
	if selected {
		g.Aggregator.Call(c)
	}
}

// measureCaptures is one run over the captures. sources are the captures, by number, that the report's inputs came from.
func (i *inputFlags) measureCaptures(s *streams, in *inputs, m measuring, by sizes.By) (r *report.Report, sources []int, readErr, err error) {
	src, err := i.open(s, in.captures)
	if err != nil {
		return nil, nil, nil, err
	}
	defer i.close(src)
	inputs := src.Inputs()
	var opt pipeline.Options
	m.filter.apply(&opt)
	i.labels.apart(inputs, slices.Contains(by.Keys, sizes.Input), &opt)
	parts := len(in.saved) > 0 && in.saved[0].Parts
	if parts {
		opt.Detail = max(opt.Detail, dubbo.Parts)
	}
	agg := sizes.New(by, m.maxGroups, i.labels.inputs(inputs))
	totals, readErr := i.read(s, src, opt, selectedGroups{agg}, nil)
	withoutBodies(totals)
	if err := totals.Balance(); err != nil {
		return nil, nil, nil, exit.Errorf(exit.Partly, "no report: %v", err)
	}
	r = report.Build(src.Inputs(), totals, by, agg.Groups())
	r.Filtered, r.Parts, r.Origin = !m.filter.empty, parts, strings.Join(in.captures, " ")
	if r.Filtered {
		r.Filter = m.flags.text()
	}
	for _, one := range src.Inputs() {
		sources = append(sources, one.Source)
	}
	return r, sources, readErr, nil
}

// fits refuses what saved reports cannot answer.
func (m *measuring) fits(in *inputs) error {
	if len(in.saved) == 0 {
		return nil
	}
	if name := m.flags.ofCalls(); name != "" {
		return exit.Usagef("%s selects calls one by one, and %s is a saved report, which has only their sums; give %s when the report is saved",
			name, in.saved[0].Origin, name)
	}
	return nil
}

// grouping is what all inputs are grouped by.
func (m *measuring) grouping(in *inputs) sizes.By {
	if m.byGiven || len(in.saved) == 0 {
		return m.by
	}
	for _, r := range in.saved {
		if !r.By.Equal(in.saved[0].By) {
			return m.by
		}
	}
	return in.saved[0].By
}

// ofCalls is the name of a filter that was given and that needs calls; "" where all are of groups.
func (f *filterFlags) ofCalls() string {
	for _, g := range f.given() {
		if !g.ofGroups {
			return g.name
		}
	}
	return ""
}

// byKey are the filters of groups.
func (f *filterFlags) byKey() map[sizes.Key][]call.Glob {
	return map[sizes.Key][]call.Glob{
		sizes.Service: globs(f.service), sizes.Method: globs(f.method),
		sizes.Serialization: globs(f.serialization), sizes.Protocol: globs(f.protocol),
	}
}

// text is the filters as they were given, in a fixed order.
func (f *filterFlags) text() string {
	var words []string
	for _, g := range f.given() {
		for _, v := range g.values {
			if strings.ContainsAny(v, " '\"\\*?$&|;<>()") {
				v = "'" + strings.ReplaceAll(v, "'", `'\''`) + "'"
			}
			words = append(words, g.name+" "+v)
		}
	}
	return strings.Join(words, " ")
}

// givenFilter is a filter that was given.
type givenFilter struct {
	name     string
	values   []string
	ofGroups bool // it selects by what groups may be grouped by
}

func (f *filterFlags) given() []givenFilter {
	var list []givenFilter
	add := func(name string, ofGroups bool, values ...string) {
		var set []string
		for _, v := range values {
			if v != "" {
				set = append(set, v)
			}
		}
		if len(set) > 0 {
			list = append(list, givenFilter{name, set, ofGroups})
		}
	}
	add("--service", true, f.service...)
	add("--method", true, f.method...)
	add("--serialization", true, f.serialization...)
	add("--protocol", true, f.protocol...)
	add("--client", false, f.client...)
	add("--server", false, f.server...)
	add("--host", false, f.host...)
	add("--port", false, texts(f.port)...)
	add("--id", false, f.id...)
	add("--status", false, texts(f.status)...)
	add("--error", false, f.errorGlob...)
	add("--attachment", false, f.attachment...)
	add("--min-size", false, f.minSize)
	add("--max-size", false, f.maxSize)
	add("--min-request", false, f.minRequest)
	add("--min-response", false, f.minResp)
	if f.minLatency > 0 {
		add("--min-latency", false, f.minLatency.String())
	}
	add("--since", false, f.since)
	add("--until", false, f.until)
	return list
}

func texts(list []int) []string {
	out := make([]string, len(list))
	for i, n := range list {
		out[i] = fmt.Sprint(n)
	}
	return out
}

// saved is analyze where there are saved reports among the inputs.
func (a *analyzeFlags) saved(s *streams, in *inputFlags, files *inputs, p *parsedAnalyze, targets []*output.Target, command string) error {
	for _, f := range []struct {
		given bool
		name  string
	}{{a.findings, "--findings"}, {a.details, "--details"}} {
		if f.given && len(files.saved) > 0 {
			output.Discard(targets)
			return exit.Usagef("%s looks into the calls, and %s is a saved report, which has only their sums; give it with the capture", f.name, files.saved[0].Origin)
		}
	}
	if a.parts {
		for _, r := range files.saved {
			if !r.Parts {
				output.Discard(targets)
				return exit.Usagef("--parts: %s was saved without it, and what bodies are made of cannot be told from a saved report", r.Origin)
			}
		}
	}
	r, readErr, err := in.measure(s, files, measuring{
		by: p.by, byGiven: a.by != "", filter: p.filter, flags: &a.filter, maxGroups: a.maxGroups,
	})
	if err != nil {
		output.Discard(targets)
		return err
	}
	if err := a.print(targets, r, command, ""); err != nil {
		return err
	}
	if len(p.presets) > 0 && len(files.saved) > 0 && !s.quiet {
		fmt.Fprintf(s.err, "dubbo-wire: %s is a saved report, which has no single calls: groups are ranked, and no calls are listed\n", files.saved[0].Origin)
	}
	return in.verdict(r.Totals, r.Selected.Calls, r.Filtered, readErr)
}
