package pipeline

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/rpc"
)

// Running is a run in progress. It is valid in Options.Watch only: between two packets, in the run's goroutine.
type Running struct{ *reader }

// Progress is what a run has counted so far.
type Progress struct {
	// Totals covers all packets so far, including the open connections. Messages that are still in the window of
	// retransmissions are not in RPCBytes yet, but in SeenBytes.
	Totals
	// OpenConnections is the number of open connections with payload, OpenCalls the number of requests without a
	// response so far.
	OpenConnections, OpenCalls int
}

// Clock returns the steady time of the capture, in nanoseconds.
func (r *Running) Clock() int64 { return r.clock.last + r.clock.offset }

// Packets returns the number of packets so far and their link bytes.
func (r *Running) Packets() (packets, linkBytes int64) { return r.totals.Packets, r.totals.LinkBytes }

// Progress sums up the run so far. It takes time in proportion to the number of open connections.
func (r *Running) Progress() *Progress {
	k := &Progress{Totals: Totals{}}
	k.add(&r.totals)
	k.FirstTime, k.LastTime = r.totals.FirstTime, r.totals.LastTime
	for _, l := range r.lanes {
		k.OpenCalls += l.pairer.OpenCalls()
		part := Totals{}
		part.add(&l.totals)
		part.TCP = l.asm.Ledger
		part.Expired, part.ExpiredByTime = l.pairer.Expired, l.pairer.ExpiredByTime
		l.asm.Streams(func(s assemble.Stream, closed bool) {
			if !closed {
				k.OpenConnections++
			}
			if c := s.(*direction).conn; c.ends < 2 {
				part.connection(c)
			}
		})
		k.add(&part)
	}
	k.nameProtocols(r.opt.Protocols)
	return k
}

// WantValues sets which messages are decoded to all values from now on, which keeps all of every body; nil ends that.
func (r *Running) WantValues(want func(conn *call.Conn, side int, m *rpc.Message) bool) {
	for _, l := range r.lanes {
		l.wantValues = want
		l.keepBodies(want != nil)
	}
}
