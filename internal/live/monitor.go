package live

import (
	"math"
	"strings"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// Traffic is link bytes since the start of the capture.
type Traffic struct {
	In, Out  int64 // from packets or the interfaces' counters; loopback: all is In
	Drops    int64 // packets that did not fit into the kernel's buffer
	link     int64 // all captured bytes
	messages int64
}

func (t *Traffic) add(o Traffic) {
	t.In += o.In
	t.Out += o.Out
	t.Drops += o.Drops
	t.link += o.link
	t.messages += o.messages
}

// Probe reads the state of the capture. The functions are called about once a second, in the pipeline's goroutine.
type Probe struct {
	Interfaces func() []Interface
	// Stats returns the capture's own counts; fill is the unread share of the kernel's buffer, from 0 to 1.
	Stats func() (t Traffic, fill float64)
	// Counters returns the interfaces' own counters, which ignore the kernel's filter; ok is false if they have none.
	Counters func() (in, out int64, ok bool)
	// Recording returns the file that packets are written to.
	Recording func() Recording
	// Speed is the speed of the link in one direction in bits per second, 0 if unknown.
	Speed float64
	// KernelFilter is the filter as the user gave it, "" if there is none.
	KernelFilter string
}

// Recording is the file that packets are written to; File is "" if there is none.
type Recording struct {
	File           string
	Packets, Bytes int64
	Err            string
}

// Monitor collects the data of a screen. It is a sink in front of another one and belongs to the pipeline's
// goroutine.
type Monitor struct {
	pipeline.Sink
	probe       Probe
	ring        ring
	began       time.Time
	secondBegan int64 // when the current second began, by the steady clock
	last        Traffic
	traffic     Traffic   // of the current second
	in, out     []float64 // bits per second, by second
	settings    Settings
	// protocols are the names of the protocols with messages.
	protocols    string
	detail       *detail
	detailConfig detailConfig
	errorBudget  budget
}

// NewMonitor returns a monitor in front of next. formats and local time are for explaining the messages of an opened
// method.
func NewMonitor(p Probe, next pipeline.Sink, formats []decode.Format, local bool) *Monitor {
	return &Monitor{Sink: next, probe: p, began: time.Now(), detailConfig: detailConfig{formats, local}}
}

// Frame receives a message.
func (m *Monitor) Frame(r *pipeline.Row) {
	m.Sink.Frame(r)
	if m.detail != nil {
		m.detail.frame(r)
	}
}

// Call receives a closed call.
func (m *Monitor) Call(c *call.Call, selected bool) {
	m.Sink.Call(c, selected)
	if !selected || len(m.ring.seconds) == 0 {
		return
	}
	m.ring.call(c)
	if m.detail != nil {
		m.detail.call(c)
	}
}

// snapshotEvery is the interval between snapshots while the settings do not change.
const snapshotEvery = int64(time.Second)

// Watch applies the settings and returns a snapshot if a new one is due, else nil.
func (m *Monitor) Watch(r *pipeline.Running, s Settings) *Snapshot {
	now := r.Clock()
	changed := s != m.settings
	m.ring.window = s.Window
	if s.Of != m.ring.selection {
		m.ring.selects(s.Of, now)
		m.detail = nil
	}
	if s.Open != m.settings.Open || s.Open != (Method{}) && m.detail == nil {
		m.openMethod(s, now)
	}
	if s.Errors != m.settings.Errors || s.Open != m.settings.Open {
		m.wantValues(r, s)
	}
	m.settings = s
	due := len(m.ring.seconds) == 0 || now-m.secondBegan >= snapshotEvery
	if !due && !changed {
		return nil
	}
	progress := r.Progress()
	m.protocols = strings.Join(progress.ProtocolNames(), ", ")
	m.count(progress)
	snap := m.snapshot(progress, now)
	if due {
		m.startSecond(now)
	}
	return snap
}

// openMethod shows another method in detail, or none.
func (m *Monitor) openMethod(s Settings, now int64) {
	m.detail = nil
	if s.Open != (Method{}) {
		m.detail = newDetail(m.detailConfig, s, now)
	}
}

// wantValues sets which messages are decoded to all values: calls of the opened method, and failures while they are shown.
func (m *Monitor) wantValues(r *pipeline.Running, s Settings) {
	if s.Open == (Method{}) && !s.Errors {
		r.WantValues(nil)
		return
	}
	r.WantValues(func(conn *call.Conn, side int, msg *rpc.Message) bool {
		if m.detail != nil && m.detail.wantValues(conn, side, msg) {
			return true
		}
		if !m.settings.Errors || msg.Kind != rpc.Response || !msg.Failed && !msg.Exception || !m.errorBudget.has(msg) {
			return false
		}
		m.errorBudget.used += int64(msg.BodyLen)
		return true
	})
}

// count adds the changes since the last call to the current second.
func (m *Monitor) count(progress *pipeline.Progress) {
	t, _ := m.probe.Stats()
	t.link, t.messages = progress.LinkBytes, progress.SeenBytes
	if m.probe.KernelFilter != "" {
		if in, out, ok := m.probe.Counters(); ok {
			t.In, t.Out = in, out
		}
	}
	if len(m.ring.seconds) > 0 {
		more := Traffic{
			max(0, t.In-m.last.In), max(0, t.Out-m.last.Out), max(0, t.Drops-m.last.Drops), // they restart when an interface returns
			t.link - m.last.link, t.messages - m.last.messages,
		}
		m.traffic.add(more)
		m.ring.current().traffic.add(more)
	}
	m.last = t
}

// startSecond ends the current second and starts another.
func (m *Monitor) startSecond(now int64) {
	if len(m.ring.seconds) > 0 {
		seconds := float64(now-m.secondBegan) / 1e9
		m.in = appendHistory(m.in, 8*float64(m.traffic.In)/seconds)
		m.out = appendHistory(m.out, 8*float64(m.traffic.Out)/seconds)
	}
	m.secondBegan, m.traffic = now, Traffic{}
	m.ring.startSecond(now)
}

// maxHistory is the number of seconds in a history.
const maxHistory = 60

func appendHistory(list []float64, v float64) []float64 {
	return append(list[max(0, len(list)+1-maxHistory):], v)
}

// snapshot returns a new snapshot.
func (m *Monitor) snapshot(progress *pipeline.Progress, now int64) *Snapshot {
	s := &Snapshot{
		At: progress.LastTime, Running: time.Since(m.began), KernelFilter: m.probe.KernelFilter, Speed: m.probe.Speed,
		Interfaces: m.probe.Interfaces(),
		Packets:    progress.Packets, LinkBytes: progress.LinkBytes,
		Calls: progress.Calls, Errors: progress.Errors, Heartbeats: progress.Heartbeats,
		Connections: progress.OpenConnections, OpenCalls: progress.OpenCalls,
		ExpiredCalls: progress.Expired + progress.ExpiredByTime, ExpiredConns: progress.TCP.Expired,
		Coverage: floor4(progress.Percent()), Gap: progress.Gap, Skipped: progress.Skipped,
		Protocols: m.protocols, KernelDrops: m.last.Drops, By: m.settings.By, Of: m.settings.Of, Filter: m.settings.Filter,
		InHistory: append([]float64(nil), m.in...), OutHistory: append([]float64(nil), m.out...),
	}
	s.OtherPorts = busiestPorts(progress)
	_, fill := m.probe.Stats()
	s.RingFill = 100 * fill
	rec := m.probe.Recording()
	s.Recording, s.RecordedPackets, s.RecordedBytes, s.RecordError = rec.File, rec.Packets, rec.Bytes, rec.Err
	if len(m.ring.seconds) == 0 {
		return s
	}
	s.Window = time.Duration(now - m.ring.seconds[0].began)
	m.rates(s)
	t := m.ring.table(m.settings.By, m.settings.Filter, now)
	s.Rows, s.Groups, s.Rest, s.RowsWindow = t.rows, t.groups, t.rest, t.span
	s.Failures = m.ring.failures()
	s.Serializations = m.ring.shares()
	if m.detail != nil {
		s.Detail = m.detail.snapshot(now)
		s.Detail.Row = (&group{row: Row{Name: m.detail.method.String(), Method: m.detail.method}}).finish(s.Window, 0)
		for _, row := range m.ring.table(ByMethod, "", now).rows {
			if row.Method == m.detail.method {
				s.Detail.Row = row
			}
		}
	}
	s.Findings = remarks(s, m.ring.largest(), progress)
	return s
}

// rates computes the rates of the window.
func (m *Monitor) rates(s *Snapshot) {
	var sum Traffic
	calls, errors, answered := int64(0), int64(0), int64(0)
	for _, x := range m.ring.seconds {
		sum.add(x.traffic)
		calls += x.calls
		errors += x.errors
		answered += x.answered
	}
	seconds := max(s.Window.Seconds(), 1e-3)
	bits := func(n int64) float64 { return 8 * float64(n) / seconds }
	s.In, s.Out, s.Link, s.Messages = bits(sum.In), bits(sum.Out), bits(sum.link), bits(sum.messages)
	s.Other = max(0, s.Link-s.Messages)
	if s.KernelFilter != "" {
		if _, _, ok := m.probe.Counters(); ok {
			s.Other, s.OtherFromCounters = max(0, s.In+s.Out-s.Messages), true
		}
	}
	s.RecentDrops = sum.Drops
	s.CallsPerSecond = float64(calls) / seconds
	s.ErrorPercent = -1
	if answered > 0 || calls == 0 {
		s.ErrorPercent = percent(errors, calls)
	}
}

// floor4 rounds a percentage down to four digits, so that only all is 100.
func floor4(p float64) float64 { return math.Floor(p*1e4) / 1e4 }
