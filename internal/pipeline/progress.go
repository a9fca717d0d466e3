package pipeline

import (
	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/rpc"
)

// Running is a run in progress, as Options.Watch sees it: between two packets, and in its goroutine.
type Running struct{ *reader }

// Look is what a run has seen so far.
type Progress struct {
	// Totals are those of all packets so far. Of connections that go on they have what is known now; messages of which
	// bytes may still be sent again are not in RPCBytes yet, but in SeenBytes.
	Totals
	// Connections with payload that have not ended, and requests that wait for an answer.
	OpenConnections, OpenCalls int
}

// Clock is the steady time of the capture, in nanoseconds.
func (r *Running) Clock() int64 { return r.clock.last + r.clock.offset }

// Packets is how many packets there were so far, and LinkBytes their bytes.
func (r *Running) Packets() (packets, linkBytes int64) { return r.totals.Packets, r.totals.LinkBytes }

// Look adds up what was seen so far. It takes time in proportion to the number of open connections.
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

// LookInto says of which messages the values are wanted from now on, and so all of every body; with nil of none.
func (r *Running) WantValues(want func(conn *call.Conn, side int, m *rpc.Message) bool) {
	for _, l := range r.lanes {
		l.wantValues = want
		l.keepBodies(want != nil)
	}
}
