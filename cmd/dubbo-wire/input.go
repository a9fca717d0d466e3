package main

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/interrupt"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/term"
)

// inputFlags are how captures are read.
type inputFlags struct {
	quiet       bool // no progress, whatever --quiet says: rows come to the terminal
	minCoverage float64
	jobs        int
	limits      limitFlags

	stop   *interrupt.Signals
	labels *labels // of the files that were opened
	// stdin and pipes are what was looked into already, to tell captures from saved reports.
	stdin io.Reader
	pipes []io.Reader
}

func (i *inputFlags) add(cmd *cobra.Command) {
	addFlags(cmd.Flags(), runGroup, func(fs *pflag.FlagSet) {
		fs.Float64Var(&i.minCoverage, "min-coverage", 0, "exit with 3 when less than `PERCENT` of Dubbo's bytes were in whole frames")
		fs.IntVar(&i.jobs, "jobs", 0, "share connections between `N` workers; the output is the same for every N (default: the number of processors where bodies are taken apart, else 1)")
	})
	i.limits.add(cmd)
}

// files needs at least one FILE.
func needFiles(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Usagef("no capture given; try: %s trace.pcap (- reads standard input)", cmd.CommandPath())
	}
	return nil
}

// open opens the files; close src and release the signals behind it.
func (i *inputFlags) open(s *streams, args []string) (*capture.Files, error) {
	var err error
	if i.labels, err = parseLabels(args); err != nil {
		return nil, err
	}
	i.catch(s)
	opt := capture.Options{Stdin: i.stdin, Pipe: i.pipe}
	if opt.Stdin == nil {
		opt.Stdin = i.stop.Reader(s.in)
	}
	src, err := capture.Open(i.labels.paths, opt)
	if err != nil {
		i.stop.Release()
		return nil, err
	}
	return src, nil
}

// catch waits for signals from now on, if it does not yet.
func (i *inputFlags) catch(s *streams) {
	if i.stop == nil {
		i.stop = interrupt.Catch(s.places.Abandon)
	}
}

// pipe is what to read of the next named pipe.
func (i *inputFlags) pipe(r io.Reader) io.Reader {
	if len(i.pipes) == 0 {
		return i.stop.Reader(r)
	}
	r, i.pipes = i.pipes[0], i.pipes[1:]
	return r
}

// close ends what open began.
func (i *inputFlags) close(src *capture.Files) {
	_ = src.Close()
	i.stop.Release()
}

// check refuses what cannot be meant.
func (i *inputFlags) check() error {
	if i.jobs < 0 || i.jobs > 1024 {
		return exit.Usagef("--jobs %d: write a number of workers, 1 or more", i.jobs)
	}
	if err := i.limits.check(); err != nil {
		return err
	}
	if !(i.minCoverage >= 0 && i.minCoverage <= 100) {
		return exit.Usagef("--min-coverage %g: write a percentage from 0 to 100", i.minCoverage)
	}
	return nil
}

// worthJobs is how large inputs must be, in bytes on disk, to be shared between workers unless that is asked for: below
// it starting them costs more than they bring.
const worthJobs = 4 << 20

// jobCount is the number of workers. Where only envelopes are read, one goroutine is about as fast as the file can be, with
// less work in all; taking bodies apart is what workers are for.
func (i *inputFlags) jobCount(src *capture.Files, detail dubbo.Detail) int {
	if i.jobs > 0 {
		return i.jobs
	}
	if _, total := src.Progress(); detail == dubbo.Envelope || total >= 0 && total < worthJobs {
		return 1
	}
	return min(runtime.GOMAXPROCS(0), pipeline.Lanes)
}

// read runs the line over the files. The error, if any, is one line with its exit code and comes after what was
// readable has been given to the sink. Reading ends early when nobody takes what comes out of it any more: when broken,
// if it is not nil, returns true.
func (i *inputFlags) read(s *streams, src *capture.Files, opt pipeline.Options, sink pipeline.Sink, broken func() bool) (*pipeline.Totals, error) {
	opt.Formats = formats.All()
	if opt.Apart == nil {
		i.labels.apart(src.Inputs(), false, &opt)
	}
	opt.Jobs, opt.Limits = i.jobCount(src, opt.Detail), i.limits.parsed
	begun, bar := time.Now(), output.NewProgress(s.err, i.quiet || s.quiet, src)
	opt.Stop = func() bool {
		return i.stop.Stopped() || broken != nil && broken()
	}
	totals, err := pipeline.Run(src, opt, sink)
	bar.Done()
	if s.verbose {
		read, _ := src.Progress()
		tellRun(s.err, src.Inputs(), totals, read, opt.Jobs, time.Since(begun))
	}
	if err != nil {
		return totals, exit.Errorf(exit.Partly, "%v", err)
	}
	problems := src.Problems()
	if i.stop.Stopped() {
		read, total := src.Progress()
		problems = append(problems, fmt.Errorf("stopped; the report covers the %s read so far: %s", term.Counted(totals.Packets, "packet"), term.BytesOf(read, total)))
	}
	if len(problems) > 0 {
		lines := make([]string, len(problems))
		for k, p := range problems {
			lines[k] = p.Error()
		}
		return totals, exit.Errorf(exit.Partly, "%s", strings.Join(lines, "\n"))
	}
	return totals, nil
}

// verdict is the exit code of a run whose report was printed: coverage below the bound wins over an input that ended
// early, that over nothing found.
func (i *inputFlags) verdict(t *pipeline.Totals, selected int64, filtered bool, readErr error) error {
	switch {
	case i.minCoverage > 0 && t.Percent() < i.minCoverage:
		if readErr != nil {
			return exit.Errorf(exit.Coverage, "%v\ncoverage %s lies below --min-coverage %g", readErr, report.Coverage(t.Percent()), i.minCoverage)
		}
		return exit.Errorf(exit.Coverage, "coverage %s lies below --min-coverage %g", report.Coverage(t.Percent()), i.minCoverage)
	case readErr != nil && (t.Frames > 0 || t.Packets == 0):
		return readErr
	case t.Frames == 0:
		text := noFrames(t)
		if readErr != nil {
			return exit.Errorf(exit.Partly, "%v\n%s", readErr, text)
		}
		return exit.Errorf(exit.Nothing, "%s", text)
	case filtered && selected == 0:
		return exit.Errorf(exit.Nothing, "no call matches the filters; %s in %s were read", term.Counted(t.Calls, "call"), term.Counted(t.Frames, "frame"))
	}
	return nil
}

// noFrames says what was there instead.
func noFrames(t *pipeline.Totals) string {
	switch {
	case t.Packets == 0:
		return "the capture holds no packets"
	case t.TCP.Connections == 0 && len(t.Unread) > 0:
		kinds := make([]string, 0, len(t.Unread))
		for _, k := range slices.Sorted(maps.Keys(t.Unread)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", t.Unread[k], k))
		}
		return fmt.Sprintf("none of the %s could be read as TCP: %s", term.Counted(t.Packets, "packet"), strings.Join(kinds, ", "))
	case t.TCP.Connections == 0:
		kinds := make([]string, 0, len(t.NotTCP))
		for _, k := range slices.Sorted(maps.Keys(t.NotTCP)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", t.NotTCP[k], k))
		}
		return fmt.Sprintf("no TCP among the %s (%s); capture the provider's port, usually 20880", term.Counted(t.Packets, "packet"), strings.Join(kinds, ", "))
	case t.TCP.Stream == 0:
		return fmt.Sprintf("no TCP payload in %s of %s; record with tcpdump -s 0 while calls are running",
			term.Counted(t.Packets, "packet"), term.Counted(t.TCP.Connections, "TCP connection"))
	}
	text := fmt.Sprintf("no Dubbo frame in %s of %s", term.Counted(t.TCP.Stream, "payload byte"), term.Counted(t.TCP.Connections, "TCP connection"))
	there := t.OtherProtocols()
	if t.NegativeLengths > 0 {
		there = append(there, term.Counted(t.NegativeLengths, "header")+" with a negative length")
	}
	if len(there) == 0 {
		return text + "; a frame starts with the bytes da bb"
	}
	return text + "; there was: " + strings.Join(there, ", ")
}
