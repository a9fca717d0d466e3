package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/term"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/record"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/live"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/screen"
	"dubbo-wire/internal/sizes"
)

// liveRun is one capture from an interface: what is open, and who watches.
type liveRun struct {
	s      *streams
	a      *analyzeFlags
	in     *inputFlags
	c      *captureFlags
	p      *parsedAnalyze
	name   string // of the interfaces, as they were given
	filter *kernelFilter

	src      *capture.Live
	ending   *ending
	targets  []*target
	recorder *record.Recorder // nil where nothing can be kept
	keeps    bool             // packets are to be kept at the moment
	child    *child           // nil without a command
	stop     *interrupt
	started  time.Time
	stopping bool

	// Who watches; nil who does not.
	screen    *screen.Screen
	closed    chan struct{} // when the screen was left
	quit      atomic.Bool   // the user left it
	monitor   *live.Monitor
	intervals *live.Intervals
	status    *progress
	shown     time.Time // the status
}

// newLive opens what a capture needs: first what may fail for the user's mistakes, and the interface before all other
// rights are given up.
func newLive(s *streams, a *analyzeFlags, in *inputFlags, c *captureFlags, p *parsedAnalyze) (_ *liveRun, err error) {
	l := &liveRun{s: s, a: a, in: in, c: c, p: p, name: strings.Join(c.ifaces, ",")}
	if l.filter, err = c.kernelFilter(&a.filter); err != nil {
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
	err = capture.StartAgain(capture.Privileges{User: c.user}, func(s capture.Sockets) []string {
		return append([]string{os.Args[0], fmt.Sprintf("--%s=%d,%d", socketsFlag, s.Raw, s.Cooked)}, os.Args[1:]...)
	})
	if err != nil {
		return nil, err
	}
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
		if err != nil && c.user != "" {
			return usage("--user %s: %v", c.user, err)
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
	discard(l.targets)
	if l.recorder != nil {
		_ = l.recorder.Close()
	}
	if l.src != nil {
		_ = l.src.Close()
	}
	if l.child != nil {
		l.child.end()
	}
}

// openFiles opens what the report and the packets go to.
func (l *liveRun) openFiles() (err error) {
	if l.targets, err = l.a.output.targets(l.s); err != nil {
		return err
	}
	if l.c.file == "-" {
		for _, t := range l.targets {
			if t.file == "" { // packets are what goes to standard output
				t.under = l.s.err
				t.w.Reset(l.s.err)
			}
		}
	}
	if l.c.file == "" && !l.onScreen() {
		return nil
	}
	o := l.c.recordOptions()
	o.Filter, o.Application, o.OS = l.filter.text, "dubbo-wire "+versionText(), runtime.GOOS
	o.Stdout, o.Local = l.s.out, l.a.output.local
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
		return usage("-w %v", err)
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
	for _, name := range l.a.output.files {
		if name != "-" && !writableWithoutRights(filepath.Dir(name)) {
			return usage("-o %s: %s", name, advice)
		}
	}
	if (l.c.fileSize > 0 || l.c.rotate > 0) && !writableWithoutRights(filepath.Dir(l.c.file)) {
		return usage("-w %s: %s", l.c.file, advice)
	}
	return nil
}

// onScreen reports whether there is a full screen: standard output and input are a terminal that can do it, and what is
// asked for is the table.
func (l *liveRun) onScreen() bool {
	out, ok := l.s.out.(*os.File)
	in, alsoIn := l.s.in.(*os.File)
	return ok && alsoIn && term.IsTerminal(int(out.Fd())) && term.IsTerminal(int(in.Fd())) && os.Getenv("TERM") != "dumb" &&
		!l.c.plain && !l.c.intervalGiven && len(l.c.command) == 0 && l.c.file != "-" &&
		(l.a.output.format == "" || l.a.output.format == "table")
}

// run captures until something ends it, and prints the report.
func (l *liveRun) run() error {
	defer l.src.Close()
	l.stop = catch()
	defer l.stop.release()
	l.started = time.Now()
	agg := sizes.New(l.p.by, l.a.maxGroups, []string{l.name})
	opt := pipeline.Options{
		Formats: formats.All(), Detail: l.a.detail(), Limits: l.in.limits.parsed, Live: true,
		Stop: l.stopped, Watch: l.watch,
	}
	l.p.filter.apply(&opt)
	if l.recorder != nil {
		opt.Tap = l.recorder
	}
	totals, runErr := pipeline.Run(l.ending, opt, l.watchers(groups{agg}, &opt))
	recordErr := l.unwatch()
	if l.intervals != nil {
		l.print(l.intervals.End(totals), true)
	}

	withoutBodies(totals)
	inputs := l.src.Inputs()
	inputs[0].Filter = l.filter.text
	r := report.Build(inputs, totals, l.p.by, agg.Groups())
	r.Filtered, r.Parts = !l.p.filter.empty, l.a.parts
	if err := l.a.print(l.targets, r, l.commandLine()); err != nil {
		// What was captured does not come again: without its file, the report is at least to be seen.
		if len(l.a.output.files) > 0 && !errors.Is(err, syscall.EPIPE) {
			_ = r.Write(l.s.out, "table", report.Style{Width: terminalWidth(l.s.out), Top: l.a.top, Command: l.commandLine()})
		}
		return err
	}
	l.remarks(recordErr)
	if runErr != nil {
		return fail(exitPartly, "%s: %v", l.name, runErr)
	}
	err := l.in.verdict(totals, r.Selected.Calls, r.Filtered, nil)
	var exit *exitError
	if errors.As(err, &exit) && exit.code == exitNothing {
		// A capture that was ended has done its work, whatever there was on the wire.
		text := exit.text
		if totals.Packets == 0 {
			text = "no packet was seen on " + l.name
			if l.filter.text != "" {
				text = fmt.Sprintf("no packet on %s matched %q", l.name, l.filter.text)
			}
		}
		l.say("dubbo-wire: " + text)
		err = nil
	}
	if l.child != nil {
		if code := l.child.code(); code != 0 {
			if err != nil {
				l.say("dubbo-wire: " + err.Error())
			}
			return fail(code, "")
		}
	}
	if err == nil && recordErr != nil {
		return fail(exitPartly, "-w %v", recordErr)
	}
	return err
}

// commandLine is what made the report.
func (l *liveRun) commandLine() string {
	return strings.TrimRight("capture "+l.name+" "+l.c.expression, " ")
}

// watchers puts those who watch in front of the sink.
func (l *liveRun) watchers(sink pipeline.Sink, opt *pipeline.Options) pipeline.Sink {
	if l.onScreen() {
		probe := live.Probe{
			Interfaces: l.interfaces, Stats: l.stats, Counters: l.counters, Recording: l.recording,
			KernelFilter: l.filter.text,
		}
		if len(l.c.ifaces) == 1 {
			probe.Speed = float64(capture.LinkSpeed(l.name))
		}
		l.monitor = live.NewMonitor(probe, sink, opt.Formats, l.a.output.local)
		sink = l.monitor
		opt.Rows = true
		out := l.s.out.(*os.File)
		l.screen = screen.New(screen.Options{
			Title: l.name, Filter: l.filter.text, Input: l.s.in, Output: out, Color: os.Getenv("NO_COLOR") == "",
			Local: l.a.output.local, Settings: live.Settings{Record: l.c.file != ""},
		})
		l.closed = make(chan struct{})
		go func() {
			defer close(l.closed)
			if err := l.screen.Run(); err != nil {
				l.say("dubbo-wire: the screen: " + err.Error() + "; --plain does without")
			}
			l.quit.Store(true)
		}()
	} else {
		if l.asksIntervals() {
			l.intervals = live.NewIntervals(l.c.interval, l.p.by, l.a.maxGroups, []string{l.name}, !l.p.filter.empty, l.stats, sink)
			sink = l.intervals
		}
		l.announce()
	}
	if l.c.calls > 0 {
		sink = &callLimit{Sink: sink, left: l.c.calls, ending: l.ending}
	}
	return sink
}

// asksIntervals reports whether somebody reads what came from time to time.
func (l *liveRun) asksIntervals() bool {
	if l.c.interval == 0 {
		return false
	}
	return l.c.intervalGiven || slices.ContainsFunc(l.targets, func(t *target) bool { return t.format == "jsonl" || l.showsIntervals(t) })
}

// showsIntervals: tables appear where somebody looks on, but not between the lines of a command unless that is asked for.
func (l *liveRun) showsIntervals(t *target) bool {
	return t.format == "table" && t.file == "" && (len(l.c.command) == 0 || l.c.intervalGiven)
}

// announce says that the capture has begun, and shows a line of status where nothing else appears on the terminal.
func (l *liveRun) announce() {
	l.status = &progress{}
	if l.in.quiet {
		return
	}
	text := "capturing on " + l.name
	if l.filter.text != "" {
		text += " (" + l.filter.text + ")"
	}
	if l.child != nil {
		text += " until " + l.c.command[0] + " ends"
	} else {
		text += "; Ctrl-C ends it and prints the report"
	}
	l.say(text)
	f, ok := l.s.err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || l.child != nil || l.intervals != nil && terminalWidth(l.s.out) > 0 {
		return
	}
	l.status = &progress{out: f, width: func() int {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return 80
	}}
}

// say prints a line to standard error.
func (l *liveRun) say(line string) { fmt.Fprintln(l.s.err, line) }

// notice is a remark while the capture runs.
func (l *liveRun) notice(text string) {
	switch {
	case l.screen != nil:
		l.screen.Notice(text)
	case !l.in.quiet:
		if l.status != nil && l.status.out != nil {
			l.status.show("")
		}
		l.say("dubbo-wire: " + text)
	}
}

// watch is called about ten times a second, in the goroutine of the line.
func (l *liveRun) watch(r *pipeline.Running) {
	if l.recorder != nil {
		if stats, err := l.src.Stats(); err == nil {
			l.recorder.Dropped(stats.Received, stats.Dropped)
		}
		l.recorder.Tick(time.Now().UnixNano())
		if l.c.file == "-" && l.recorder.Err() != nil {
			l.quit.Store(true) // whoever read the packets has seen enough
		}
	}
	switch {
	case l.screen != nil:
		set := l.screen.Settings()
		l.record(set.Record)
		if snap := l.monitor.Watch(r, set); snap != nil {
			l.screen.Show(snap)
		}
	case l.intervals != nil:
		if v := l.intervals.Watch(r); v != nil {
			l.print(v, false)
		}
	}
	if l.status != nil && l.status.out != nil && time.Since(l.shown) >= time.Second {
		l.shown = time.Now()
		t, fill := l.stats()
		packets, bytes := r.Packets()
		l.status.show(fmt.Sprintf("%s  %s packets, %s  drops %s  ring %.0f %%", clockText(time.Since(l.started)),
			report.Count(packets), bytesText(bytes), report.Count(t.Drops), 100*fill))
	}
}

func clockText(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// print prints an interval where it is read; the last one only for programs, as people get the report.
func (l *liveRun) print(v *report.Interval, last bool) {
	targets := l.targets
	if l.c.intervalGiven && !slices.ContainsFunc(targets, func(t *target) bool { return t.file == "" }) {
		targets = append(slices.Clone(targets), &target{format: "table", under: l.s.out, w: bufio.NewWriter(l.s.out)})
	}
	for _, t := range targets {
		var err error
		switch {
		case t.format == "jsonl":
			err = v.WriteJSON(t.w)
		case !last && l.showsIntervals(t):
			st := l.a.output.style(t)
			st.Top = l.a.top
			if err = v.WriteText(t.w, st); err == nil {
				_, err = t.w.WriteString("\n")
			}
		default:
			continue
		}
		if err == nil {
			err = t.w.Flush()
		}
		if err != nil {
			l.quit.Store(true) // nobody reads any more; the report meets the same error
		}
	}
}

// record starts and stops keeping packets, as the screen's user wants it.
func (l *liveRun) record(wanted bool) {
	if wanted == l.keeps {
		return
	}
	l.keeps = wanted
	switch {
	case wanted:
		name := l.c.file
		if name == "" {
			name = "dubbo-wire-" + time.Now().UTC().Format("20060102-150405") + ".pcapng"
		}
		if err := l.recorder.Start(name); err != nil {
			l.notice("recording: " + err.Error())
		} else {
			l.notice("recording to " + name)
		}
	default:
		if err := l.recorder.Stop(); err == nil {
			s := l.recorder.Stats()
			l.notice(fmt.Sprintf("%s has %s packets", s.File, report.Count(s.Packets)))
		}
	}
}

func (l *liveRun) interfaces() []live.Interface {
	states := l.src.States()
	all := make([]live.Interface, len(states))
	for i, s := range states {
		all[i] = live.Interface{Name: s.Name, Up: s.Up, Gone: s.Gone}
	}
	return all
}

func (l *liveRun) stats() (live.Traffic, float64) {
	s, err := l.src.Stats()
	if err != nil {
		return live.Traffic{Drops: -1}, 0
	}
	return live.Traffic{In: s.In.Bytes, Out: s.Out.Bytes, Drops: s.Dropped}, s.Fill
}

// counters are the sums of the interfaces' own.
func (l *liveRun) counters() (in, out int64, ok bool) {
	for _, name := range l.c.ifaces {
		i, o, known := capture.Counters(name)
		if !known {
			return 0, 0, false
		}
		in, out = in+i.Bytes, out+o.Bytes
		if name == "lo" {
			out -= o.Bytes // what goes out there is what comes in
		}
	}
	return in, out, true
}

func (l *liveRun) recording() live.Recording {
	var rec live.Recording
	if s := l.recorder.Stats(); s.On {
		rec = live.Recording{File: s.File, Packets: s.Packets, Bytes: s.Bytes}
	}
	if err := l.recorder.Err(); err != nil {
		rec.Err = err.Error()
	}
	return rec
}

// stopped is asked about ten times a second. What the kernel holds of the time before the end is still read: it is the
// source that ends the run.
func (l *liveRun) stopped() bool {
	if l.stopping {
		return false
	}
	switch {
	case l.stop.stopped.Load(), l.quit.Load():
	case l.c.duration > 0 && time.Since(l.started) >= l.c.duration:
	case l.child != nil && l.child.ended():
	case l.recorder != nil && l.recorder.Done():
	default:
		return false
	}
	l.stopping = true
	l.ending.drain()
	return false
}

// unwatch ends what watches, in the order in which a terminal is left: the screen, then the report. It returns what went
// wrong with recording.
func (l *liveRun) unwatch() error {
	if l.status != nil && l.status.out != nil {
		l.status.show("")
	}
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
	if l.recorder == nil || l.in.quiet || err != nil {
		return
	}
	s := l.recorder.Stats()
	if l.c.onlyRPC && s.LeftOut > 0 {
		l.say(fmt.Sprintf("dubbo-wire: --only-rpc left %s out (%s)", counted(s.LeftOut, "packet"), bytesText(s.LeftOutBytes)))
	}
}

// callLimit ends a capture after a number of selected calls.
type callLimit struct {
	pipeline.Sink
	left   int64
	ending *ending
}

func (c *callLimit) Call(k *call.Call, selected bool) {
	c.Sink.Call(k, selected)
	if selected {
		if c.left--; c.left == 0 {
			c.ending.over = true
		}
	}
}

// ending ends a source: after a number of packets or bytes, or when what was captured before a moment was read.
type ending struct {
	capture.Source
	packets, bytes int64 // what is left; 0 at the start: no limit
	over           bool
	until          int64     // nanoseconds since the Unix epoch; 0: not draining
	since          time.Time // when draining began
}

const (
	// drainWait is how long the kernel may keep a packet before it hands it over; it is more than the time after which it
	// gives up a part of the ring that is not full.
	drainWait = 150 * time.Millisecond
	// drainMost is how long is read on: a clock that was set back shows no end.
	drainMost = 3 * time.Second
)

// drain lets the source end with the last packet of before now.
func (e *ending) drain() { e.until, e.since = time.Now().UnixNano(), time.Now() }

func (e *ending) Next(p *capture.Packet) error {
	if e.over {
		return capture.ErrClosed
	}
	err := e.Source.Next(p)
	if e.until != 0 {
		waited := time.Since(e.since)
		// The first packet from behind the end is the last one: the source has counted it.
		e.over = e.over || err == nil && (p.Time > e.until || waited > drainMost)
		if errors.Is(err, capture.ErrTimeout) && waited > drainWait {
			e.over = true
			return capture.ErrClosed
		}
	}
	if err != nil {
		return err
	}
	if e.packets > 0 {
		e.packets--
		e.over = e.packets == 0
	}
	if e.bytes > 0 {
		e.bytes -= int64(p.WireLen)
		e.over = e.over || e.bytes <= 0
	}
	return nil
}
