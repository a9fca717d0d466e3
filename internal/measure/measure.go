// Package measure makes reports of inputs, for the commands analyze, capture, compare and check. FILE arguments and a Config go
// in; a report.Report comes out, with the exit code that it means. Captures are read in one run of the pipeline, saved reports
// are read and added. The package decides which inputs are read, and how, and what is collected; internal/pipeline and
// internal/sizes count. Files owns what it opened until Close; a report belongs to the caller.
package measure

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/decode/route"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/interrupt"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
	"dubbo-wire/internal/term"
)

// Input says how inputs are read.
type Input struct {
	Stdin      io.Reader
	Stderr     io.Writer // for progress and Verbose
	NoProgress bool
	Quiet      bool   // no remarks on Stderr
	Verbose    bool   // describe the run on Stderr
	Abandon    func() // runs when a second signal ends the program

	MinCoverage float64 // percent; exit.Coverage below it
	Jobs        int     // workers; 0 chooses
	Limits      pipeline.Limits

	// Filter is that of the run. It is needed to open inputs if it selects by the capturing machine, or if calls are grouped by that.
	Filter *Filter

	Classes *classpath.Options // nil without a class path
	Routes  *route.Set         // nil without routes
	// Products are the names of products, by the addresses of their servers.
	Products map[string]string

	near    *nearest // of the last run with a filter
	classes classes
}

// Route returns what names requests of HTTP, nil without routes.
func (in *Input) Route() func(method, path string) string {
	if in.Routes == nil {
		return nil
	}
	return in.Routes.Match
}

// NameRoutes adds the routes to what the commands of a report's findings need, to see its names.
func (in *Input) NameRoutes(r *report.Report) {
	if in.Routes == nil {
		return
	}
	r.Filters = slices.Clone(r.Filters)
	for _, p := range in.Routes.Patterns {
		r.Filters = append(r.Filters, [2]string{"--route", p})
	}
}

// Files are the opened FILE arguments: captures, and saved reports that were read.
type Files struct {
	*capture.Files // nil without captures
	Labels         *Labels
	Saved          []*report.Report

	in        *Input
	allLabels *Labels // of captures and saved reports
	signals   *interrupt.Signals
	stopped   []string       // why the run ended before the end of the inputs
	captures  []string       // the arguments that are captures
	failed    []report.Input // saved reports and captures that cannot be read
	// The indexes of the arguments, from 0.
	captureAt, savedAt, failedAt []int
	// stdin and pipes replay the bytes that were read to tell captures from saved reports.
	stdin io.Reader
	pipes []io.Reader
}

// Open opens captures.
func (in *Input) Open(args []string) (*Files, error) {
	f := &Files{in: in, captures: args}
	var err error
	if f.Labels, err = parseLabels(args); err != nil {
		return nil, err
	}
	if err = in.OpenClasses(); err != nil {
		return nil, err
	}
	return f, f.open(f.Labels.paths)
}

// open opens the captures. After an error, nothing needs to be closed.
func (f *Files) open(paths []string) (err error) {
	f.catch()
	opt := capture.Options{Stdin: f.stdin, Pipe: f.pipe}
	if opt.Stdin == nil {
		opt.Stdin = f.signals.Reader(f.in.Stdin)
	}
	if f.Files, err = capture.Open(paths, opt); err != nil {
		f.signals.Release()
		f.Files, f.signals = nil, nil
		return err
	}
	if _, err = f.in.Machines(f.Inputs(), f.Apart()); err != nil {
		f.Close()
	}
	return err
}

// catch begins to wait for signals.
func (f *Files) catch() {
	if f.signals == nil {
		f.signals = interrupt.Catch(f.in.Abandon)
	}
}

// pipe returns what to read of the next named pipe.
func (f *Files) pipe(r io.Reader) io.Reader {
	if len(f.pipes) == 0 {
		return f.signals.Reader(r)
	}
	r, f.pipes = f.pipes[0], f.pipes[1:]
	return r
}

// Close closes the captures and ends the waiting for signals.
func (f *Files) Close() {
	if f.Files != nil {
		_ = f.Files.Close()
	}
	if f.signals != nil {
		f.signals.Release()
	}
}

// Names returns the file names of the inputs by index.
func (f *Files) Names() []string {
	inputs := f.Inputs()
	out := make([]string, len(inputs))
	for i := range inputs {
		out[i] = inputs[i].File
	}
	return out
}

// worthJobs is the size of inputs on disk, in bytes, from which several workers are faster than one.
const worthJobs = 4 << 20

// jobs returns the number of workers. For envelopes one is enough: it reads about as fast as the disk. Workers pay when bodies
// are decoded.
func (f *Files) jobs(detail rpc.Detail) int {
	if f.in.Jobs > 0 {
		return f.in.Jobs
	}
	if _, total := f.Progress(); detail == rpc.Envelope || total >= 0 && total < worthJobs {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), pipeline.Lanes)
}

// Run runs the pipeline over the captures. It returns an exit.Error after the sink has got everything that could be read. If
// broken is not nil, reading ends early when broken returns true, because nobody reads the output.
func (f *Files) Run(opt pipeline.Options, sink pipeline.Sink, broken func() bool) (*pipeline.Totals, error) {
	opt.Protocols, opt.Formats, opt.Route = protocols.All(), f.in.Formats(), f.in.Route()
	opt.Products = f.in.Products
	if opt.Apart == nil {
		f.Labels.apart(f.Inputs(), false, &opt)
	}
	opt.Machines, _ = f.in.Machines(f.Inputs(), opt.Apart) // open and Separate have checked them
	opt.Jobs, opt.Limits = f.jobs(opt.Detail), f.in.Limits
	begun, bar := time.Now(), output.NewProgress(f.in.Stderr, f.in.NoProgress, f)
	opt.Stop = func() bool { return f.signals.Stopped() || broken != nil && broken() }
	if opt.Filter != nil {
		near := &nearest{Sink: sink, filter: opt.Filter, seen: make(map[seenName]bool)}
		sink, f.in.near = near, near
	}
	totals, err := pipeline.Run(f.Files, opt, sink)
	bar.Done()
	read, total := f.Progress()
	if f.in.Verbose {
		Describe(f.in.Stderr, f.Inputs(), totals, read, opt.Jobs, time.Since(begun))
	}
	if err != nil {
		f.stopped = []string{err.Error()}
		return totals, exit.Errorf(exit.Partly, "%v", err)
	}
	var problems []string
	for _, p := range f.Problems() {
		problems = append(problems, p.Error())
	}
	if f.signals.Stopped() {
		f.stopped = []string{fmt.Sprintf("stopped; the report covers the %s read so far: %s", term.Counted(totals.Packets, "packet"), output.ReadOf(read, total))}
		problems = append(problems, f.stopped...)
	}
	return totals, partly(problems)
}

// partly returns the error for inputs that could not be read completely, or nil if there are no lines.
func partly(lines []string) error {
	if len(lines) == 0 {
		return nil
	}
	return exit.Errorf(exit.Partly, "%s", strings.Join(lines, "\n"))
}

// Verdict returns the error to return after the report was printed, or nil. Low coverage wins over an input that ended early,
// and that over an empty report.
func (in *Input) Verdict(t *pipeline.Totals, selected int64, filtered bool, readErr error) error {
	switch {
	case in.MinCoverage > 0 && t.Percent() < in.MinCoverage:
		if readErr != nil {
			return exit.Errorf(exit.Coverage, "%v\ncoverage %s is below --min-coverage %g", readErr, report.Coverage(t.Percent()), in.MinCoverage)
		}
		return exit.Errorf(exit.Coverage, "coverage %s is below --min-coverage %g", report.Coverage(t.Percent()), in.MinCoverage)
	case readErr != nil && (t.Frames > 0 || t.Packets == 0):
		return readErr
	case t.Frames == 0:
		text := noFrames(t)
		if readErr != nil {
			return exit.Errorf(exit.Partly, "%v\n%s", readErr, text)
		}
		return exit.Errorf(exit.Nothing, "%s", text)
	case filtered && selected == 0:
		text := fmt.Sprintf("no call matches the filters, among %s in %s%s", term.Counted(t.Calls, "call"), term.Counted(t.Frames, "frame"), in.near.text())
		return exit.Errorf(exit.Nothing, "%s", text)
	}
	return nil
}

// noFrames describes a capture without Dubbo frames.
func noFrames(t *pipeline.Totals) string {
	switch {
	case t.Packets == 0:
		return "the capture contains no packets"
	case t.TCP.Connections == 0 && len(t.Unread) > 0:
		return fmt.Sprintf("none of the %s could be read as TCP: %s", term.Counted(t.Packets, "packet"), kinds(t.Unread))
	case t.TCP.Connections == 0:
		return fmt.Sprintf("no TCP among the %s (%s); capture the provider's port, usually 20880", term.Counted(t.Packets, "packet"), kinds(t.NotTCP))
	case t.TCP.Stream == 0:
		return fmt.Sprintf("no TCP payload in %s of %s; record with tcpdump -s 0 while calls are running",
			term.Counted(t.Packets, "packet"), term.Counted(t.TCP.Connections, "TCP connection"))
	}
	text := fmt.Sprintf("no Dubbo frame in %s of %s", term.Counted(t.TCP.Stream, "payload byte"), term.Counted(t.TCP.Connections, "TCP connection"))
	var there []string
	for _, name := range t.OtherProtocols() {
		there = append(there, name+servers(t.Other[name].ServerNames()))
	}
	if t.NegativeLengths > 0 {
		there = append(there, term.Counted(t.NegativeLengths, "header")+" with an impossible length")
	}
	if len(there) == 0 {
		return text + "; a frame starts with the bytes da bb"
	}
	return text + "; found instead: " + strings.Join(there, ", ")
}

// servers names the first of some servers, in parentheses.
func servers(names []string) string {
	const shown = 3
	if len(names) == 0 {
		return ""
	}
	text := " (" + strings.Join(names[:min(len(names), shown)], ", ")
	if more := len(names) - shown; more > 0 {
		text += fmt.Sprintf(", %s more", term.Count(int64(more)))
	}
	return text + ")"
}

// kinds lists the number of packets of each kind.
func kinds[K cmp.Ordered](packets map[K]int64) string {
	var list []string
	for _, k := range slices.Sorted(maps.Keys(packets)) {
		list = append(list, fmt.Sprintf("%s %v", term.Count(packets[k]), k))
	}
	return strings.Join(list, ", ")
}

// Apart returns the source of each input, as [pipeline.Options] has it.
func (f *Files) Apart() []int {
	var opt pipeline.Options
	f.Labels.apart(f.Inputs(), false, &opt)
	return opt.Apart
}

// Separate makes a run read each input alone if groups are by input. The error is that of [Input.Machines]: such inputs do not share addresses.
func (f *Files) Separate(opt *pipeline.Options, by sizes.By) error {
	if !slices.Contains(by.Keys, sizes.Input) {
		return nil
	}
	f.Labels.apart(f.Inputs(), true, opt)
	_, err := f.in.Machines(f.Inputs(), opt.Apart)
	return err
}

// Stopped reports whether a signal asks to end.
func (f *Files) Stopped() bool { return f.signals.Stopped() }
