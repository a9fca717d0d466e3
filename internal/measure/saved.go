package measure

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// OpenAny opens captures and reads saved reports. It tells them apart by their content.
func (in *Input) OpenAny(args []string) (_ *Files, err error) {
	f := &Files{in: in}
	args = reportsOfFolders(args)
	if f.Labels, err = parseLabels(args); err != nil {
		return nil, err
	}
	if err = in.OpenClasses(); err != nil {
		return nil, err
	}
	labels := f.Labels
	f.allLabels = labels
	stdin := false
	for k, arg := range args {
		from, done := f.sniffed(labels.paths[k], &stdin)
		var r *report.Report
		var err error
		if from != nil {
			r, err = report.Read(from)
		}
		done()
		switch {
		case err != nil:
			f.fail(k, arg, labels.paths[k]+" "+err.Error())
		case r != nil:
			r.Origin, r.Label = labels.paths[k], labels.names[k]
			f.Saved, f.savedAt = append(f.Saved, r), append(f.savedAt, k)
		default:
			f.captures, f.captureAt = append(f.captures, arg), append(f.captureAt, k)
		}
	}
	if len(f.captures) > 0 {
		f.Labels = labels.at(f.captureAt)
		if err = f.open(f.Labels.paths); err != nil {
			if len(f.Saved) == 0 || capture.CauseOf(err) == 0 {
				return nil, err
			}
			texts := strings.Split(err.Error(), "\n") // the saved reports are still useful
			for i, k := range f.captureAt {
				f.fail(k, args[k], texts[min(i, len(texts)-1)])
			}
		}
		return f, nil
	}
	if f.signals != nil {
		f.signals.Release()
		f.signals = nil
	}
	if len(f.Saved) == 0 {
		return nil, exit.Errorf(exit.Nothing, "%v", partly(f.failures()))
	}
	return f, nil
}

// reportsOfFolders replaces folders of saved reports by the reports in them, ordered by name: a fleet has more than a command line
// may contain. A folder with any other file is one of captures.
func reportsOfFolders(args []string) (all []string) {
	for _, arg := range args {
		entries, _ := os.ReadDir(arg)
		var reports []string
		for _, e := range entries {
			switch {
			case e.IsDir():
			case reportName.MatchString(e.Name()):
				reports = append(reports, filepath.ToSlash(filepath.Join(arg, e.Name())))
			default:
				entries = nil
			}
		}
		if len(reports) == 0 || entries == nil {
			reports = []string{arg}
		}
		all = append(all, reports...)
	}
	return all
}

var reportName = regexp.MustCompile(`\.json(\.gz|\.zst)?$`)

// fail notes that the argument with index k cannot be read.
func (f *Files) fail(k int, arg, text string) {
	f.failed, f.failedAt = append(f.failed, report.Input{File: arg, Err: text}), append(f.failedAt, k)
}

func (f *Files) failures() []string {
	var lines []string
	for _, in := range f.failed {
		lines = append(lines, in.Err)
	}
	return lines
}

// Report reads the captures in one run and adds the saved reports. readErr says what could not be read, as for Run; with err
// there is no report.
func (f *Files) Report(cfg Config) (r *report.Report, readErr, err error) {
	if err := cfg.fits(f.Saved); err != nil {
		return nil, nil, err
	}
	if len(f.Saved)+len(f.failed) > 0 {
		cfg = cfg.sums(f.Saved)
	}
	var list []*report.Report
	var places []int // the argument of each input
	lines := f.failures()
	for k, r := range f.Saved {
		for _, p := range r.Problems() {
			lines = append(lines, r.Origin+": "+p)
		}
		if !cfg.Filter.Empty() {
			if err := r.Select(cfg.Filter.Groups, cfg.Filter.Side, cfg.Filter.Text); err != nil {
				return nil, nil, exit.Usagef("%v", err)
			}
		}
		if err := r.Regroup(cfg.By); err != nil {
			return nil, nil, exit.Usagef("%v", err)
		}
		list = append(list, r)
		for range r.Inputs {
			places = append(places, f.savedAt[k])
		}
	}
	if f.Files != nil {
		var opt pipeline.Options
		opt.Apart = f.Apart()
		if err := f.Separate(&opt, cfg.By); err != nil {
			return nil, nil, err
		}
		c := cfg.Collect(f.Labels.inputs(f.Inputs()), &opt)
		totals, err := f.Run(opt, c, nil)
		if err != nil {
			lines = slices.Insert(lines, 0, err.Error())
		}
		r, err := c.Report(f.Inputs(), totals)
		if err != nil {
			return nil, nil, err
		}
		f.in.NameRoutes(r)
		r.Origin = strings.Join(f.captures, " ")
		r.Stopped = f.stopped
		if len(f.Saved)+len(f.failed) == 0 {
			r.AddedUp = f.allLabels.addedUp(cfg.By)
			return r, partly(lines), nil
		}
		list = append(list, r)
		for _, one := range f.Inputs() {
			places = append(places, f.captureAt[one.Source])
		}
	}
	if r, err = report.Merge(list, cmp.Or(cfg.MaxGroups, sizes.DefaultMaxGroups)); err != nil {
		return nil, nil, exit.Usagef("%v", err)
	}
	if !f.in.Quiet {
		for _, remark := range r.Remarks {
			fmt.Fprintln(f.in.Stderr, "dubbo-wire: "+term.Clean(remark))
		}
	}
	r.Inputs = append(r.Inputs, f.failed...)
	r.OrderInputs(append(places, f.failedAt...))
	r.AddedUp = f.allLabels.addedUp(cfg.By)
	return r, partly(lines), nil
}

// sums returns the configuration for captures that are added to saved reports: only sums, in the groups that all have.
func (cfg *Config) sums(saved []*report.Report) Config {
	c := Config{By: cfg.By, ByGiven: cfg.ByGiven, MaxGroups: cfg.MaxGroups, Filter: cfg.Filter, Sample: AsNeeded}
	if len(saved) > 0 {
		c.Parts = saved[0].Parts
		if !cfg.ByGiven && !slices.ContainsFunc(saved, func(r *report.Report) bool { return !r.By.Equal(saved[0].By) }) {
			c.By = saved[0].By
		}
	}
	return c
}

// fits refuses what saved reports do not contain.
func (cfg *Config) fits(saved []*report.Report) error {
	if len(saved) == 0 {
		return nil
	}
	for _, flag := range []struct {
		given bool
		name  string
	}{{cfg.Findings, "--findings"}, {cfg.Details, "--details"}} {
		if flag.given {
			return exit.Usagef("%s needs single calls, but %s is a saved report and contains only sums; give the capture", flag.name, saved[0].Origin)
		}
	}
	for _, r := range saved {
		if cfg.Parts && !r.Parts {
			return exit.Usagef("--parts: %s was saved without --parts and contains no bodies to decode", r.Origin)
		}
	}
	if name := cfg.Filter.OfCalls; name != "" {
		return exit.Usagef("%s selects single calls, but %s is a saved report and contains only sums; give %s when you save the report",
			name, saved[0].Origin, name)
	}
	return nil
}

// OpenJSON returns a reader of a file with a JSON object, which may be compressed.
func OpenJSON(r io.Reader) (io.Reader, error) {
	body, _ := sniff(r)
	if body == nil {
		return nil, errors.New("is not JSON; write a new file with --update")
	}
	return body, nil
}

// sniffed returns a reader of an argument that is a saved report, and nil for another one, whose first bytes are kept for
// capture.Open. Call done after reading.
func (f *Files) sniffed(arg string, stdin *bool) (body io.Reader, done func()) {
	done = func() {}
	if arg == "-" {
		if *stdin {
			return nil, done // capture.Open refuses it
		}
		*stdin = true
		f.catch()
		body, whole := sniff(f.signals.Reader(f.in.Stdin))
		if body == nil {
			f.stdin = whole
		}
		return body, done
	}
	info, err := os.Stat(arg)
	switch {
	case err != nil:
	case info.Mode().Type() == os.ModeNamedPipe:
		f.catch()
		body, whole := sniff(f.signals.Reader(&capture.NamedPipe{Path: arg}))
		if body == nil {
			f.pipes = append(f.pipes, whole)
		}
		return body, done
	case info.Mode().IsRegular():
		file, err := os.Open(arg)
		if err != nil {
			break
		}
		body, _ = sniff(file)
		if body == nil {
			_ = file.Close()
			break
		}
		return body, func() { _ = file.Close() }
	}
	return nil, done // capture.Open returns the error
}

// maxSniffed bounds the white space before a report in bytes.
const maxSniffed = 512

// sniff checks whether r holds a JSON object, which may be compressed. body is a reader of the object, or nil; then whole
// reads all of r.
func sniff(r io.Reader) (body, whole io.Reader) {
	rec := &recorder{r: r, on: true}
	b := bufio.NewReaderSize(rec, 4096)
	start, _ := b.Peek(4)
	if z, compression, err := capture.Decompress(b, start); compression != "" && err == nil {
		b = bufio.NewReader(z)
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

// recorder keeps the bytes that were read through it.
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
