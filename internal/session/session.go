// Package session runs one live capture. A Config goes in: interfaces, limits, what to keep, and what to measure. A full screen or
// tables come out while it runs, and the report at the end; packets may be recorded on the way. It opens the interfaces before
// it drops privileges, and the files after that or before, as their owner requires. It follows tcpdump in its flags for
// interfaces, limits and files. A Session owns all that it opened until Run returns; packets belong to the ring of the kernel.
package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/bpf"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/record"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/interrupt"
	"dubbo-wire/internal/live"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/metrics"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/screen"
	"dubbo-wire/internal/term"
)

// Config says what to capture and what to do with it.
type Config struct {
	Interfaces []string
	Expression string   // a filter for the kernel
	Ports      []int    // of the call filter; the kernel can check them
	Hosts      []string // the same
	Command    []string // capture for as long as it runs

	Duration                 time.Duration // this and the next three: 0 for no limit
	Packets, Calls, MaxBytes int64
	SnapLen                  int   // 0 for all bytes
	Buffer                   int64 // bytes
	NoPromiscuous            bool
	User                     string         // switch to this user once the capture runs
	Sockets                  []int          // opened before the program started itself again; see capture.StartAgain
	SocketsFlag              string         // the flag that passes Sockets on
	Record                   record.Options // File is empty if no packets are kept
	CallFiles                CallFiles

	Plain         bool          // no full screen
	Interval      time.Duration // between two tables; 0 for none
	IntervalGiven bool
	Metrics       metrics.Options // Address and Receiver are empty without metrics

	Measure measure.Config
	Input   *measure.Input
	Output  *output.Options
	Print   *measure.Print
	Places  *output.Places
	Quiet   bool
	Version string
}

// Session is one live capture: the open source and files, and the screen or tables that follow it.
type Session struct {
	*Config
	name   string // of the interfaces
	filter *kernelFilter

	src      *capture.Live
	machines []*call.Machine
	ending   *ending
	targets  []*output.Target
	calls    *callFiles       // nil without any
	recorder *record.Recorder // nil if packets cannot be kept
	keeps    bool             // packets are being kept
	deletes  bool             // the user knows that old files are deleted
	child    *child           // nil without a command
	stop     *interrupt.Signals
	started  time.Time
	stopping bool
	// byCommand: the command ended the capture, so its exit code is the session's.
	byCommand bool

	// At most one of screen and intervals is set.
	screen    *screen.Screen
	closed    chan struct{} // closed when the screen ends
	quit      atomic.Bool   // the user left it
	monitor   *live.Monitor
	intervals *live.Intervals
	status    *output.Progress
	shown     time.Time // when status was last shown

	metrics *metrics.Server // this and the next one: nil without metrics
	meter   *metrics.Meter
}

// Open opens the interfaces and the outputs. It checks the user's input first, and opens the interfaces before it drops
// privileges.
func Open(cfg *Config) (_ *Session, err error) {
	l := &Session{Config: cfg, name: strings.Join(cfg.Interfaces, ",")}
	if l.filter, err = cfg.kernelFilter(); err != nil {
		return nil, err
	}
	if err = cfg.Output.Check(); err != nil {
		return nil, err
	}
	if err = cfg.CallFiles.check(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			l.abandon()
		}
	}()
	if err = l.mayWriteLater(); err != nil {
		return nil, err
	}
	// The class path may lie where only root can read.
	if err = cfg.Input.OpenClasses(); err != nil {
		return nil, err
	}
	if err = cfg.Input.ReadFolders(); err != nil {
		return nil, err
	}
	var given capture.Sockets
	if len(cfg.Sockets) == 2 {
		given = capture.Sockets{Raw: cfg.Sockets[0], Cooked: cfg.Sockets[1]}
	}
	err = capture.RestartUnprivileged(capture.Privileges{User: cfg.User}, func(s capture.Sockets) []string {
		return append([]string{os.Args[0], fmt.Sprintf("--%s=%d,%d", cfg.SocketsFlag, s.Raw, s.Cooked)}, os.Args[1:]...)
	})
	if err != nil {
		return nil, err
	}
	l.stop = interrupt.Catch(cfg.Input.Abandon) // from now on there is something to clean up
	if cfg.Metrics.Address != "" || cfg.Metrics.Receiver != "" {
		if cfg.Metrics.Host = cfg.CallFiles.Node; cfg.Metrics.Host == "" {
			cfg.Metrics.Host, _ = os.Hostname()
		}
		if l.metrics, err = metrics.Listen(cfg.Metrics); err != nil {
			return nil, exit.Usagef("--metrics %v", err)
		}
	}
	l.src, err = capture.OpenLive(cfg.Interfaces, capture.LiveOptions{
		SnapLen: cfg.SnapLen, Buffer: int(min(cfg.Buffer, 1<<40)), NoPromiscuous: cfg.NoPromiscuous, Sockets: given,
		Filter: func(link capture.LinkType) ([]bpf.RawInstruction, error) { return l.filter.compile(link, cfg.SnapLen) },
		Notice: l.notice,
	})
	if err != nil {
		return nil, err
	}
	if l.machines, err = cfg.Input.Machines(l.src.Inputs(), nil); err != nil {
		return nil, err
	}
	preloads, _ := capture.Source(l.src).(pipeline.PreloadSource)
	l.ending = &ending{Source: l.src, preloads: preloads, packets: cfg.Packets, bytes: cfg.MaxBytes, single: cfg.Calls > 0}
	if err = l.findCommand(); err != nil {
		return nil, err
	}
	// With --user, that user must own the files, so privileges are dropped first. Otherwise files and the command may need
	// them. Files are opened after the interfaces, so that a capture that cannot begin does not touch old files.
	give := func() error {
		err := capture.DropPrivileges(capture.Privileges{User: cfg.User})
		switch {
		case err == nil:
			return nil
		case cfg.User != "":
			return exit.Usagef("--user %s: %v", cfg.User, err)
		case capture.CauseOf(err) == capture.NotSupported:
			l.notice(err.Error())
			return nil
		}
		return err
	}
	steps := []func() error{l.openFiles, l.startCommand, give}
	if cfg.User != "" {
		steps = []func() error{give, l.openFiles, l.startCommand}
	}
	for _, step := range steps {
		if err = step(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// abandon closes everything after Open has failed.
func (l *Session) abandon() {
	output.Discard(l.targets)
	if l.calls != nil {
		l.calls.abandon()
	}
	if l.recorder != nil {
		_ = l.recorder.Close()
	}
	if l.src != nil {
		_ = l.src.Close()
	}
	if l.metrics != nil {
		l.metrics.Close()
	}
	if l.child != nil {
		l.child.end()
	}
	if l.stop != nil {
		l.stop.Release()
	}
}

// openFiles opens the files for the report and the packets.
func (l *Session) openFiles() (err error) {
	if l.targets, err = l.Print.Open(l.Places, &l.Measure); err != nil {
		return err
	}
	if l.Record.File == "-" {
		for _, t := range l.targets {
			if t.File == "" { // standard output is for the packets
				t.Redirect(l.Input.Stderr)
			}
		}
	}
	if l.CallFiles.File != "" {
		l.calls = &callFiles{CallFiles: l.CallFiles, places: l.Places, inputs: []string{l.name}, local: l.Output.Local, notice: l.notice}
		if err := l.calls.open(); err != nil {
			return err
		}
	}
	if l.Record.File == "" && !l.onScreen() {
		return nil
	}
	o := l.Record
	o.Filter, o.Application, o.OS = l.filter.text, record.Program+" "+l.Version, runtime.GOOS
	o.Machine = l.src.Inputs()[0].Machine
	o.Stdout, o.Local = l.Places.Stdout, l.Output.Local
	o.Names = func(i int) string {
		if l.src != nil {
			if states := l.src.States(); i < len(states) {
				return states[i].Name
			}
		}
		return l.name
	}
	l.recorder, err = record.Open(o)
	l.keeps = l.Record.File != ""
	if err != nil {
		return exit.Usagef("-w %v", err)
	}
	return nil
}

// mayWriteLater refuses files that are created or renamed after privileges were dropped, if root can write to their folder
// only with a privilege.
func (l *Session) mayWriteLater() error {
	if l.User != "" {
		return nil // that user opens the files
	}
	const advice = "its folder cannot be written to after privileges are dropped; choose another folder, or a user who may write there: --user NAME"
	for _, name := range l.Output.Files {
		if name != "-" && !writableWithoutRights(filepath.Dir(name)) {
			return exit.Usagef("-o %s: %s", name, advice)
		}
	}
	if name := l.CallFiles.File; name != "" {
		for _, dir := range []string{l.CallFiles.folder(), filepath.Dir(measure.CoverageName(name))} {
			if !writableWithoutRights(dir) {
				return exit.Usagef("-o %s: %s", name, advice)
			}
		}
	}
	if (l.Record.MaxBytes > 0 || l.Record.Every > 0) && !writableWithoutRights(filepath.Dir(l.Record.File)) {
		return exit.Usagef("-w %s: %s", l.Record.File, advice)
	}
	return nil
}

// Run captures until something ends it, and prints the report.
func (l *Session) Run() error {
	defer l.src.Close()
	defer l.stop.Release()
	if l.metrics != nil {
		defer func() {
			l.metrics.Close()
			if text := l.metrics.Notice(); text != "" {
				l.say("dubbo-wire: " + text)
			}
		}()
	}
	whole := false
	defer func() {
		if !whole { // a panic: restore the terminal and remove files before it is printed
			_ = l.unwatch()
			output.Discard(l.targets)
			if l.calls != nil {
				l.calls.abandon()
			}
		}
	}()
	l.started = time.Now()
	opt := pipeline.Options{
		Protocols: protocols.All(), Formats: l.Input.Formats(), Route: l.Input.Route(), Products: l.Input.Products, Limits: l.Input.Limits, Live: true,
		Stop: l.stopped, Watch: l.watch,
	}
	if l.recorder != nil {
		opt.Tap = l.recorder
	}
	opt.Machines = l.machines
	c := l.Measure.Collect([]string{l.name}, &opt)
	var sink pipeline.Sink = c
	if l.calls != nil {
		sink = l.calls.sink(sink, &opt)
	}
	totals, runErr := pipeline.Run(l.ending, opt, l.watchers(sink, &opt))
	whole = true
	if l.meter != nil {
		l.meter.End(totals)
	}
	recordErr := l.unwatch()
	if l.Input.Verbose {
		measure.Describe(l.Input.Stderr, l.src.Inputs(), totals, 0, 1, time.Since(l.started))
	}
	if l.intervals != nil {
		l.print(l.intervals.End(totals), true)
	}

	inputs := l.src.Inputs()
	inputs[0].Filter = l.filter.text
	r, err := c.Report(inputs, totals)
	verdict := err
	switch {
	case err == nil && runErr != nil:
		verdict = exit.Errorf(exit.Partly, "%s: %v", l.name, runErr)
	case err == nil:
		verdict = l.Input.Verdict(totals, r.Selected.Calls, r.Filtered, nil)
	}
	var callsErr error
	if l.calls != nil {
		callsErr = l.calls.close(l.booksOf(totals), verdict)
	}
	if err != nil {
		output.Discard(l.targets)
		return err
	}
	l.Input.NameRoutes(r)
	if runErr != nil {
		r.Stopped = []string{fmt.Sprintf("%s: %v", l.name, runErr)}
	}
	if err := l.Print.Print(l.targets, r, l.explain(recordErr)); err != nil {
		// A capture cannot be repeated. If its file cannot be written, print the report.
		if len(l.Output.Files) > 0 && !errors.Is(err, syscall.EPIPE) {
			_ = r.Write(l.Places.Stdout, "table", report.Style{Width: output.Width(l.Places.Stdout), Top: l.Measure.Top})
		}
		return err
	}
	l.remarks(recordErr)
	if runErr != nil {
		return verdict
	}
	err = verdict
	if exit.CodeOf(err) == exit.Nothing {
		// A capture without calls is not an error.
		text := err.Error()
		if totals.Packets == 0 {
			text = "no packets on " + l.name
			if l.filter.text != "" {
				text = fmt.Sprintf("no packet on %s matched %q", l.name, l.filter.text)
			}
		}
		if !l.Quiet {
			l.say("dubbo-wire: " + text)
		}
		err = nil
	}
	if l.byCommand {
		if code := l.child.code(); code != 0 {
			if err != nil {
				l.say("dubbo-wire: " + err.Error())
			}
			return exit.Errorf(code, "")
		}
	}
	switch {
	case err != nil:
	case recordErr != nil:
		return exit.Errorf(exit.Partly, "-w %v", recordErr)
	case callsErr != nil:
		return exit.Errorf(exit.Partly, "%v", callsErr)
	}
	return err
}

// say prints a line to standard error.
func (l *Session) say(line string) { fmt.Fprintln(l.Input.Stderr, line) }

// unwatch ends the screen, the command and the recording, in this order, before the report is printed. It returns the error
// of the recording.
func (l *Session) unwatch() error {
	l.status.Show("")
	if l.screen != nil {
		l.screen.Quit()
		<-l.closed
	}
	if l.child != nil && !l.child.ended() {
		l.child.end()
	}
	if l.recorder == nil {
		return nil
	}
	if stats, err := l.src.Stats(); err == nil {
		l.recorder.Dropped(stats.Received, stats.Dropped)
	}
	err := l.recorder.Err()
	if e := l.recorder.Close(); err == nil {
		err = e
	}
	if l.Record.File == "-" && errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// explain returns the command that shows a frame of the capture, or "" if its packets are not all in one file.
func (l *Session) explain(recordErr error) string {
	o := &l.Record
	if recordErr != nil || o.File == "" || o.File == "-" || o.OnlyRPC || o.MaxBytes > 0 || o.Every > 0 || l.onScreen() {
		return ""
	}
	return "dubbo-wire explain " + report.ShellWord(o.File)
}

// remarks prints what was written to files beside the report.
func (l *Session) remarks(err error) {
	if l.Quiet {
		return
	}
	wrote := func(count string, files int, last string) {
		switch {
		case files == 1:
			l.say(fmt.Sprintf("dubbo-wire: wrote %s to %s", count, last))
		case files > 1:
			l.say(fmt.Sprintf("dubbo-wire: wrote %s to %s; the last one is %s", count, term.Counted(int64(files), "file"), last))
		}
	}
	if l.calls != nil {
		wrote(term.Counted(l.calls.rows, "call"), l.calls.complete, l.calls.newest)
	}
	if d := l.Record.Disk.Deleted(); d.Files > 0 {
		l.say(fmt.Sprintf("dubbo-wire: --max-disk deleted %s (%s)", term.Counted(int64(d.Files), "older file"), report.Volume(d.Bytes)))
	}
	if l.recorder == nil || err != nil {
		return
	}
	s := l.recorder.Stats()
	if l.Record.File != "-" {
		wrote(term.Counted(s.Packets, "packet"), s.Files, s.File)
	}
	if l.Record.OnlyRPC && s.LeftOut > 0 {
		l.say(fmt.Sprintf("dubbo-wire: --only-rpc omitted %s (%s)", term.Counted(s.LeftOut, "packet"), report.Volume(s.LeftOutBytes)))
	}
}
