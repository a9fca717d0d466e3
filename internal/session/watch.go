package session

import (
	"fmt"
	"os"
	"slices"
	"time"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/live"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/screen"
	"dubbo-wire/internal/term"
)

// onScreen reports whether to show the full screen: standard input and output are a capable terminal, and the format is the
// table.
func (l *Session) onScreen() bool {
	return output.IsTerminal(l.Places.Stdout) && output.IsTerminal(l.Input.Stdin) && os.Getenv("TERM") != "dumb" &&
		!l.Plain && !l.IntervalGiven && len(l.Command) == 0 && l.Record.File != "-" &&
		(l.Output.Format == "" || l.Output.Format == "table")
}

// watchers returns the sink with the metrics, and the monitor of the screen or the intervals, in front of it.
func (l *Session) watchers(sink pipeline.Sink, opt *pipeline.Options) pipeline.Sink {
	if l.metrics != nil {
		l.meter = l.metrics.Serve(func() (int64, float64) {
			t, fill := l.stats()
			return t.Drops, fill
		}, sink)
		sink = l.meter
	}
	if l.onScreen() {
		probe := live.Probe{
			Interfaces: l.interfaces, Stats: l.stats, Counters: l.counters, Recording: l.recording,
			KernelFilter: l.filter.text,
		}
		if len(l.Interfaces) == 1 {
			probe.Speed = float64(capture.LinkSpeed(l.name))
		}
		l.monitor = live.NewMonitor(probe, sink, opt.Formats, l.Output.Local)
		sink = l.monitor
		opt.Rows = true
		out := l.Places.Stdout.(*os.File)
		l.screen = screen.New(screen.Options{
			Title: l.name, Filter: l.filter.text, Input: l.Input.Stdin, Output: out, Color: output.Color(),
			Local: l.Output.Local, Settings: live.Settings{Record: l.Record.File != ""},
		})
		if text := l.servingMetrics(); text != "" {
			l.screen.Notice(text)
		}
		l.closed = make(chan struct{})
		go func() {
			defer close(l.closed)
			if err := l.screen.Run(); err != nil {
				l.say("dubbo-wire: cannot draw the screen: " + err.Error() + "; use --plain")
			}
			l.quit.Store(true)
		}()
	} else {
		if l.asksIntervals() {
			l.intervals = live.NewIntervals(l.Interval, l.Measure.By, l.Measure.MaxGroups, []string{l.name}, !l.Measure.Filter.Empty(), l.stats, sink)
			sink = l.intervals
		}
		l.announce()
	}
	if l.Calls > 0 {
		sink = &callLimit{Sink: sink, left: l.Calls, ending: l.ending}
	}
	return sink
}

// asksIntervals reports whether the output has tables or lines for intervals.
func (l *Session) asksIntervals() bool {
	if l.Interval == 0 {
		return false
	}
	return l.IntervalGiven || slices.ContainsFunc(l.targets, func(t *output.Target) bool { return t.Format == "jsonl" || l.showsIntervals(t) })
}

// showsIntervals reports whether a target gets tables for intervals: standard output does, but not between the lines of a
// command unless --interval was given.
func (l *Session) showsIntervals(t *output.Target) bool {
	return t.Format == "table" && t.File == "" && (len(l.Command) == 0 || l.IntervalGiven)
}

// announce prints that the capture has begun, and begins a line of status if nothing else is printed on the terminal.
func (l *Session) announce() {
	if l.Quiet {
		return
	}
	text := "capturing on " + l.name
	if l.filter.text != "" {
		text += " (" + l.filter.text + ")"
	}
	if l.child != nil {
		text += " until " + l.Command[0] + " ends"
	} else {
		text += "; press Ctrl-C to stop and print the report"
	}
	l.say(text)
	if text := l.servingMetrics(); text != "" {
		l.say(text)
	}
	if l.child == nil && (l.intervals == nil || output.Width(l.Places.Stdout) == 0) {
		l.status = output.NewStatus(l.Input.Stderr, false)
	}
}

// servingMetrics says where metrics are served, "" if they are not.
func (l *Session) servingMetrics() string {
	if l.metrics == nil || l.metrics.URL() == "" {
		return ""
	}
	return "serving metrics on " + l.metrics.URL()
}

// notice shows a remark while the capture runs.
func (l *Session) notice(text string) {
	switch {
	case l.screen != nil:
		l.screen.Notice(text)
	case !l.Quiet:
		l.status.Show("")
		l.say("dubbo-wire: " + text)
	}
}

// watch is called about ten times a second, in the goroutine of the pipeline.
func (l *Session) watch(r *pipeline.Running) {
	if l.recorder != nil {
		if stats, err := l.src.Stats(); err == nil {
			l.recorder.Dropped(stats.Received, stats.Dropped)
		}
		l.recorder.Tick(time.Now().UnixNano())
		if l.Record.File == "-" && l.recorder.Err() != nil {
			l.quit.Store(true) // the reader of the packets is gone
		}
	}
	if first := l.Record.Disk.Deleted().First; first != "" && !l.deletes {
		l.deletes = true
		l.notice("--max-disk is reached: deleted " + first + ", and will delete the oldest file whenever there must be room")
	}
	if l.calls != nil {
		l.calls.watch(time.Now().UnixNano(), func() *report.Report { return l.booksOf(&r.Progress().Totals) })
	}
	if l.meter != nil {
		l.meter.Watch(r)
		if text := l.metrics.Notice(); text != "" {
			l.notice(text)
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
	if l.status != nil && time.Since(l.shown) >= time.Second {
		l.shown = time.Now()
		t, fill := l.stats()
		packets, bytes := r.Packets()
		l.status.Show(fmt.Sprintf("%s  %s, %s  drops %s  ring %.0f %%", clockText(time.Since(l.started)),
			term.Counted(packets, "packet"), report.Volume(bytes), report.Count(t.Drops), 100*fill))
	}
}

func clockText(d time.Duration) string {
	s := int64(d / time.Second)
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// print prints an interval to the targets that take intervals. The last one is only for programs, because tables are followed
// by the report.
func (l *Session) print(v *report.Interval, last bool) {
	targets := l.targets
	if l.IntervalGiven && !slices.ContainsFunc(targets, func(t *output.Target) bool { return t.File == "" }) {
		targets = append(slices.Clone(targets), output.NewTarget("table", l.Places.Stdout))
	}
	for _, t := range targets {
		var err error
		switch {
		case t.Format == "jsonl":
			err = v.WriteJSON(t.W)
		case !last && l.showsIntervals(t):
			st := l.Output.Style(t)
			st.Top = l.Measure.Top
			if err = v.WriteText(t.W, st); err == nil {
				_, err = t.W.WriteString("\n")
			}
		default:
			continue
		}
		if err == nil {
			err = t.W.Flush()
		}
		if err != nil {
			l.quit.Store(true) // the report will return the same error
		}
	}
}

// record starts and stops keeping packets when the user of the screen asks for it.
func (l *Session) record(wanted bool) {
	if wanted == l.keeps {
		return
	}
	l.keeps = wanted
	switch {
	case wanted:
		name := l.Record.File
		if name == "" {
			name = "dubbo-wire-" + time.Now().UTC().Format("20060102-150405") + ".pcapng"
		}
		if err := l.recorder.Start(name); err != nil {
			l.notice("recording: " + err.Error())
		} else {
			l.notice("recording to " + name)
		}
	default:
		if err := l.recorder.Close(); err == nil {
			s := l.recorder.Stats()
			l.notice(fmt.Sprintf("wrote %s to %s", term.Counted(s.Packets, "packet"), s.File))
		}
	}
}

func (l *Session) interfaces() []live.Interface {
	states := l.src.States()
	all := make([]live.Interface, len(states))
	for i, s := range states {
		all[i] = live.Interface{Name: s.Name, Up: s.Up, Gone: s.Gone}
	}
	return all
}

func (l *Session) stats() (live.Traffic, float64) {
	s, err := l.src.Stats()
	if err != nil {
		return live.Traffic{Drops: -1}, 0
	}
	return live.Traffic{In: s.In.Bytes, Out: s.Out.Bytes, Drops: s.Dropped}, s.Fill
}

// counters returns the sums of the interfaces' own counters.
func (l *Session) counters() (in, out int64, ok bool) {
	for _, name := range l.Interfaces {
		i, o, known := capture.Counters(name)
		if !known {
			return 0, 0, false
		}
		in, out = in+i.Bytes, out+o.Bytes
		if name == "lo" {
			out -= o.Bytes // on loopback, every packet goes out and comes in
		}
	}
	return in, out, true
}

func (l *Session) recording() live.Recording {
	var rec live.Recording
	if s := l.recorder.Stats(); s.On {
		rec = live.Recording{File: s.File, Packets: s.Packets, Bytes: s.Bytes}
	}
	if err := l.recorder.Err(); err != nil {
		rec.Err = err.Error()
	}
	return rec
}
