package main

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

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/record"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/interrupt"
	"dubbo-wire/internal/live"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/screen"
	"dubbo-wire/internal/term"
)

// liveRun is one capture from an interface: what is open, and who watches.
type liveRun struct {
	s      *streams
	a      *analyzeFlags
	in     *inputFlags
	c      *captureFlags
	cfg    *measure.Config
	name   string // of the interfaces, as they were given
	filter *kernelFilter

	src      *capture.Live
	ending   *ending
	targets  []*output.Target
	recorder *record.Recorder // nil where nothing can be kept
	keeps    bool             // packets are to be kept at the moment
	child    *child           // nil without a command
	stop     *interrupt.Signals
	started  time.Time
	stopping bool
	// byCommand: the end of the command is what ended the capture, so that its exit code counts.
	byCommand bool

	// Who watches; nil who does not.
	screen    *screen.Screen
	closed    chan struct{} // when the screen was left
	quit      atomic.Bool   // the user left it
	monitor   *live.Monitor
	intervals *live.Intervals
	status    *output.Progress
	shown     time.Time // the status
}

// newLive opens what a capture needs: first what may fail for the user's mistakes, and the interface before all other
// rights are given up.
func newLive(s *streams, a *analyzeFlags, in *inputFlags, c *captureFlags, cfg *measure.Config) (_ *liveRun, err error) {
	l := &liveRun{s: s, a: a, in: in, c: c, cfg: cfg, name: strings.Join(c.ifaces, ",")}
	if l.filter, err = c.kernelFilter(&a.filter); err != nil {
		return nil, err
	}
	if err = a.output.Check(); err != nil {
		return nil, err
	}
	maxBytes, err := sizeFlag("--max-bytes", c.maxBytes)
	if err != nil {
		return nil, err
	}
	buffer, err := sizeFlag("--buffer", c.buffer)
	if err != nil {
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
	var given capture.Sockets
	if len(c.sockets) == 2 {
		given = capture.Sockets{Raw: c.sockets[0], Cooked: c.sockets[1]}
	}
	err = capture.RestartUnprivileged(capture.Privileges{User: c.user}, func(s capture.Sockets) []string {
		return append([]string{os.Args[0], fmt.Sprintf("--%s=%d,%d", socketsFlag, s.Raw, s.Cooked)}, os.Args[1:]...)
	})
	if err != nil {
		return nil, err
	}
	l.stop = interrupt.Catch(s.places.Abandon) // from now on there is something to leave in order
	l.src, err = capture.OpenLive(c.ifaces, capture.LiveOptions{
		SnapLen: c.snapLen, Buffer: int(min(buffer, 1<<40)), NoPromiscuous: c.noPromisc, Sockets: given,
		Filter: func(link capture.LinkType) ([]bpf.RawInstruction, error) { return l.filter.compile(link, c.snapLen) },
		Notice: l.notice,
	})
	if err != nil {
		return nil, err
	}
	l.ending = &ending{Source: l.src, packets: c.packets, bytes: maxBytes}
	if err = l.findCommand(); err != nil {
		return nil, err
	}
	// What another user shall own is opened by that user; else files and the command may need the rights there are. Files
	// come last: a capture that cannot take place leaves the old ones alone.
	give := func() error {
		err := capture.DropPrivileges(capture.Privileges{User: c.user})
		switch {
		case err == nil:
			return nil
		case c.user != "":
			return exit.Usagef("--user %s: %v", c.user, err)
		case capture.CauseOf(err) == capture.NotSupported:
			l.notice(err.Error())
			return nil
		}
		return err
	}
	steps := []func() error{l.openFiles, l.startCommand, give}
	if c.user != "" {
		steps = []func() error{give, l.openFiles, l.startCommand}
	}
	for _, step := range steps {
		if err = step(); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// abandon closes what was opened for a capture that does not take place.
func (l *liveRun) abandon() {
	output.Discard(l.targets)
	if l.recorder != nil {
		_ = l.recorder.Close()
	}
	if l.src != nil {
		_ = l.src.Close()
	}
	if l.child != nil {
		l.child.end()
	}
	if l.stop != nil {
		l.stop.Release()
	}
}

// openFiles opens what the report and the packets go to.
func (l *liveRun) openFiles() (err error) {
	if l.targets, err = l.a.targets(l.s, l.cfg); err != nil {
		return err
	}
	if l.c.file == "-" {
		for _, t := range l.targets {
			if t.File == "" { // packets are what goes to standard output
				t.Redirect(l.s.err)
			}
		}
	}
	if l.c.file == "" && !l.onScreen() {
		return nil
	}
	o := l.c.recordOptions()
	o.Filter, o.Application, o.OS = l.filter.text, "dubbo-wire "+versionText(), runtime.GOOS
	o.Stdout, o.Local = l.s.out, l.a.output.Local
	o.Names = func(i int) string {
		if l.src != nil {
			if states := l.src.States(); i < len(states) {
				return states[i].Name
			}
		}
		return l.name
	}
	l.recorder, err = record.Open(*o)
	l.keeps = l.c.file != ""
	if err != nil {
		return exit.Usagef("-w %v", err)
	}
	return nil
}

// mayWriteLater refuses files that are made, or get their name, when all rights are given up, in a folder that root may
// write in only by such a right.
func (l *liveRun) mayWriteLater() error {
	if l.c.user != "" {
		return nil // files are opened by that user
	}
	const advice = "its folder is not ours to write in once all rights are given up; choose another one, or the user who may: --user NAME"
	for _, name := range l.a.output.Files {
		if name != "-" && !writableWithoutRights(filepath.Dir(name)) {
			return exit.Usagef("-o %s: %s", name, advice)
		}
	}
	if (l.c.fileSize > 0 || l.c.rotate > 0) && !writableWithoutRights(filepath.Dir(l.c.file)) {
		return exit.Usagef("-w %s: %s", l.c.file, advice)
	}
	return nil
}

// run captures until something ends it, and prints the report.
func (l *liveRun) run() error {
	defer l.src.Close()
	defer l.stop.Release()
	whole := false
	defer func() {
		if !whole { // a fault of this program: its terminal and its files are left in order before it is told
			_ = l.unwatch()
			output.Discard(l.targets)
		}
	}()
	l.started = time.Now()
	opt := pipeline.Options{
		Formats: formats.All(), Limits: l.in.Limits, Live: true,
		Stop: l.stopped, Watch: l.watch,
	}
	if l.recorder != nil {
		opt.Tap = l.recorder
	}
	c := l.cfg.Collect([]string{l.name}, &opt)
	totals, runErr := pipeline.Run(l.ending, opt, l.watchers(c, &opt))
	whole = true
	recordErr := l.unwatch()
	if l.s.verbose {
		measure.Describe(l.s.err, l.src.Inputs(), totals, 0, 1, time.Since(l.started))
	}
	if l.intervals != nil {
		l.print(l.intervals.End(totals), true)
	}

	inputs := l.src.Inputs()
	inputs[0].Filter = l.filter.text
	r, err := c.Report(inputs, totals)
	if err != nil {
		output.Discard(l.targets)
		return err
	}
	if err := l.a.print(l.targets, r, l.commandLine(), ""); err != nil {
		// What was captured does not come again: without its file, the report is at least to be seen.
		if len(l.a.output.Files) > 0 && !errors.Is(err, syscall.EPIPE) {
			_ = r.Write(l.s.out, "table", report.Style{Width: output.Width(l.s.out), Top: l.a.top, Command: l.commandLine()})
		}
		return err
	}
	l.remarks(recordErr)
	if runErr != nil {
		return exit.Errorf(exit.Partly, "%s: %v", l.name, runErr)
	}
	err = l.in.Verdict(totals, r.Selected.Calls, r.Filtered, nil)
	if exit.CodeOf(err) == exit.Nothing {
		// A capture that was ended has done its work, whatever there was on the wire.
		text := err.Error()
		if totals.Packets == 0 {
			text = "no packet was seen on " + l.name
			if l.filter.text != "" {
				text = fmt.Sprintf("no packet on %s matched %q", l.name, l.filter.text)
			}
		}
		if !l.s.quiet {
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
	if err == nil && recordErr != nil {
		return exit.Errorf(exit.Partly, "-w %v", recordErr)
	}
	return err
}

// commandLine is what made the report.
func (l *liveRun) commandLine() string {
	return strings.TrimRight("capture "+l.name+" "+l.c.expression, " ")
}

// say prints a line to standard error.
func (l *liveRun) say(line string) { fmt.Fprintln(l.s.err, line) }

// unwatch ends what watches, in the order in which a terminal is left: the screen, then the report. It returns what went
// wrong with recording.
func (l *liveRun) unwatch() error {
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
	if l.c.file == "-" && errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// remarks says what became of recorded packets.
func (l *liveRun) remarks(err error) {
	if l.recorder == nil || l.s.quiet || err != nil {
		return
	}
	s := l.recorder.Stats()
	switch {
	case s.Files == 1 && l.c.file != "-":
		l.say(fmt.Sprintf("dubbo-wire: %s has %s", s.File, term.Counted(s.Packets, "packet")))
	case s.Files > 1:
		l.say(fmt.Sprintf("dubbo-wire: %d files have %s, the last one is %s", s.Files, term.Counted(s.Packets, "packet"), s.File))
	}
	if l.c.onlyRPC && s.LeftOut > 0 {
		l.say(fmt.Sprintf("dubbo-wire: --only-rpc left %s out (%s)", term.Counted(s.LeftOut, "packet"), term.Bytes(s.LeftOutBytes)))
	}
}
