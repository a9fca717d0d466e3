package pipeline

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/rpc"
)

// Totals is what a run counted, regardless of the filter: link, TCP and streams. Numbers are bytes unless stated
// otherwise.
type Totals struct {
	Packets, LinkBytes  int64
	FirstTime, LastTime int64 // of packets, nanoseconds since the Unix epoch
	// ClockSteps is how often the recording machine's clock was set, as far as packets show. Steady is the time from
	// the first to the last packet without these steps, in nanoseconds.
	ClockSteps, Steady int64
	// SegmentHeaders is the link, IP and TCP headers of packets with TCP segments; SegmentPadding is the bytes after
	// their IP packets.
	SegmentHeaders, SegmentPadding int64
	// FragmentBytes is the link bytes of IP fragments that became no complete packet or repeated others.
	FragmentBytes int64
	// OffloadedPackets counts packets with a segment larger than a wire carries, or without an IP length: recorded
	// before segmentation offload.
	OffloadedPackets int64
	// WithoutTrailer counts packets with a segment of which the capture lacks only bytes after the IP packet: padding, frame
	// check sequences.
	WithoutTrailer int64
	// NotTCPBytes is the link bytes of packets without a TCP segment, NotTCP their number by kind.
	NotTCPBytes int64
	NotTCP      map[string]int64 // packets
	// Unread counts packets that may have been TCP and could not be read: headers cut by the snap length, fragments,
	// unknown link types, contradictory headers.
	Unread map[string]int64

	// TCP is the assembler's ledger.
	TCP assemble.Ledger

	// RPCBytes is the link bytes of messages, EventBytes those of heartbeats and events, IncompleteBytes those of
	// incomplete messages.
	RPCBytes, EventBytes, IncompleteBytes int64
	// SeenBytes is the link bytes of messages at their completion, without later retransmissions: what is known of
	// RPCBytes during a run.
	SeenBytes int64
	// OtherTCP is the link bytes of connections without messages, by the port of the server as far as it is known.
	OtherTCP map[uint16]int64

	// FrameBytes is the captured stream bytes of messages, CompleteBytes those of complete ones.
	FrameBytes, CompleteBytes int64
	// Other is recognised bytes without an RPC message, by protocol.
	Other map[string]*Other
	// Skipped is bytes of no message, Gap missing bytes of known length, on connections with messages.
	Skipped, Gap int64
	// Between is the part of Skipped on connections that were captured from the start and without a gap.
	Between int64
	// OneSided is the number of connections with messages of which packets of one end only were captured.
	OneSided int64
	// LostGaps counts the gaps from segments that the capture lacks, LostBytes their bytes; the snap length cut off
	// the rest of Gap.
	LostGaps, LostBytes int64
	// NegativeLengths counts headers at an expected place with an impossible body length.
	NegativeLengths int64

	// Protocols counts connections with messages by protocol name, Control is what these protocols send beside calls.
	Protocols map[string]int64
	Control   map[string]*Control

	Frames, Incomplete, Heartbeats, Events, Resynced int64
	// BodiesDecoded, BodiesPartly and BodiesOpaque count bodies by how far they were decoded; only set if values were
	// needed.
	BodiesDecoded, BodiesPartly, BodiesOpaque int64
	Causes                                    map[string]int64 // why bodies were not decoded

	Calls, OneWay, Errors, Unanswered, Orphans int64
	// Aborted counts the calls of Errors that have no response.
	Aborted int64
	// Expired counts requests that exceeded the limit of open calls, ExpiredByTime those that waited too long.
	Expired, ExpiredByTime int64
	// Unnamed counts requests whose headers refer for the method to earlier ones that the capture lacks, WithoutStatus responses whose
	// headers so refer for the status.
	Unnamed, WithoutStatus int64
	// UnknownIDs counts messages by unregistered serialization id.
	UnknownIDs map[uint8]int64
	// Layouts counts requests by the order of fields of a fork.
	Layouts map[string]int64
	// Contradicted counts messages whose body uses another serialization than the header names.
	Contradicted map[Contradiction]int64
}

// Contradiction is a serialization in a header and the one in the body, with names as in reports.
type Contradiction struct {
	HeaderID     uint8
	Header, Body string
}

// Control is the calls of a protocol, and the stream bytes of its control messages: heartbeats, events, and the bytes of its
// connections that belong to no message, but have a name.
type Control struct {
	Calls, Bytes int64
}

// Other is the connections and stream bytes of another protocol, or control bytes of one with messages.
type Other struct {
	Connections, Bytes int64
	Control            bool
	// Handshakes are those of the connections that have one, MoreHandshakes the sum of those that are not in it because there are too many.
	Handshakes     map[rpc.Handshake]*Handshakes
	MoreHandshakes Handshakes
}

// Handshakes is the connections with equal handshakes, and their stream bytes.
type Handshakes struct{ Connections, Bytes int64 }

func count[K comparable](m *map[K]int64, k K, n int64) {
	if *m == nil {
		*m = make(map[K]int64)
	}
	(*m)[k] += n
}

// Span returns the time from the first to the last packet, in nanoseconds.
func (t *Totals) Span() int64 {
	if t.ClockSteps > 0 {
		return t.Steady
	}
	return t.LastTime - t.FirstTime
}

// packets counts packets, at least one.
func (t *Totals) packets(ps []capture.Packet) {
	if t.Packets == 0 {
		t.FirstTime, t.LastTime = ps[0].Time, ps[0].Time
	}
	first, last, bytes := t.FirstTime, t.LastTime, 0
	for i := range ps {
		first, last = min(first, ps[i].Time), max(last, ps[i].Time)
		bytes += ps[i].WireLen
	}
	t.FirstTime, t.LastTime = first, last
	t.Packets += int64(len(ps))
	t.LinkBytes += int64(bytes)
}

// segment counts a packet that completed a TCP segment.
func (t *Totals) segment(p *capture.Packet, s *packet.Segment) {
	t.SegmentPadding += int64(s.Padding)
	t.SegmentHeaders += int64(p.WireLen + s.Extra - s.PayloadLen - s.Padding)
	if s.Offloaded {
		t.OffloadedPackets++
	}
	if n := p.Missing(); n > 0 && n <= s.Padding {
		t.WithoutTrailer++
	}
}

func (t *Totals) notTCP(p *capture.Packet, v packet.Verdict, d *packet.Decoder) {
	if v == packet.Held {
		return // counted with the complete packet, or at the end
	}
	earlier := d.Earlier()
	t.NotTCPBytes += int64(p.WireLen) + earlier.Bytes
	n := 1 + earlier.Packets
	if v == packet.NotTCP {
		name := d.Protocol()
		if name == "" {
			name = "other"
		}
		count(&t.NotTCP, name, n)
		return
	}
	name := v.String()
	if v == packet.UnknownLink {
		name += " " + p.Link.String()
	}
	count(&t.Unread, name, n)
}

// fragments counts the IP fragments that became no packet.
func (t *Totals) fragments(d *packet.Decoder) {
	d.Flush()
	lost, repeated := d.Abandoned()
	t.FragmentBytes += lost.Bytes + repeated.Bytes
	if lost.Packets > 0 {
		count(&t.Unread, packet.Fragment.String(), lost.Packets)
	}
}

// message counts a message; detail is the minimum detail of the run.
func (t *Totals) message(m *rpc.Message, detail rpc.Detail) {
	t.Frames++
	n := int64(m.HeaderLen) + int64(m.Captured)
	t.FrameBytes += n
	if m.Complete {
		t.CompleteBytes += n
	} else {
		t.Incomplete++
	}
	if m.Resync {
		t.Resynced++
	}
	if m.Kind.Control() {
		t.AddControl(m.Protocol.Name, 0, n)
	}
	switch m.Kind {
	case rpc.Heartbeat:
		t.Heartbeats++
	case rpc.Event:
		t.Events++
	}
	if m.Format == nil && m.SerializationID >= 0 {
		count(&t.UnknownIDs, uint8(m.SerializationID), 1)
	}
	switch {
	case m.Kind == rpc.Request && m.Ordinal == 0 && m.Operation != nil && m.Operation.Service == call.Unknown && m.Unresolved:
		t.Unnamed++
	case m.Kind == rpc.Response && m.Status == rpc.NoStatus && m.Ends && m.Unresolved:
		t.WithoutStatus++
	}
	if m.Operation != nil && m.Operation.Layout != "" {
		count(&t.Layouts, m.Operation.Layout, 1)
	}
	if m.HeaderFormat != nil {
		count(&t.Contradicted, Contradiction{uint8(m.SerializationID), m.HeaderFormat.Name, m.Serialization}, 1)
	}
	if m.Tree == nil && m.Printed == nil || detail < rpc.Values {
		return
	}
	switch m.Decoded {
	case "full":
		t.BodiesDecoded++
	case "partly":
		t.BodiesPartly++
	default:
		t.BodiesOpaque++
	}
	if m.Err != nil {
		count(&t.Causes, m.Err.Cause.String(), 1)
	}
}

func (t *Totals) call(c *call.Call) {
	t.Calls++
	switch c.State() {
	case call.OneWay:
		t.OneWay++
	case call.NoResponse:
		t.Unanswered++
	case call.NoRequest:
		t.Orphans++
	}
	if c.Failed() {
		t.Errors++
		if c.Response == nil {
			t.Aborted++
		}
	}
}

// Settle adds the final link bytes of a message.
func (t *Totals) Settle(m *call.Message) {
	wire := m.Wire + m.Repeated
	t.RPCBytes += wire
	switch {
	case !m.Complete:
		t.IncompleteBytes += wire
	case m.Kind.Control():
		t.EventBytes += wire
	}
}

// connection adds the counts of one connection.
func (t *Totals) connection(c *connection) {
	late := c.late
	if c.claimed || c.lateClaimed {
		t.Skipped += late
		late = 0
	}
	if c.claimed {
		t.Skipped += c.skipped
		if c.gap == 0 && !c.tcp.Joined {
			t.Between += c.skipped
		}
		t.Gap += c.gap
		t.LostGaps += c.gaps
		t.LostBytes += c.bytes
		for _, u := range c.unowned {
			t.other(u.name, u.bytes)
		}
		t.addControl(c)
	} else {
		n := c.skipped + late
		for _, u := range c.unowned {
			n += u.bytes
		}
		if n > 0 {
			o := t.other(c.protocolName(), n)
			if c.handshake != nil {
				o.addHandshake(*c.handshake, n)
			}
		}
	}
	if c.messages > 0 && c.tcp.OneSided() {
		t.OneSided++
	}
	if c.messages == 0 {
		count(&t.OtherTCP, serverPort(c.tcp), c.tcp.Link)
	}
}

// addControl adds the calls and the control bytes of a connection with messages. The bytes serve all calls of the connection, so
// that each protocol gets a share by its calls.
func (t *Totals) addControl(c *connection) {
	if c.inUse.Protocol == nil {
		return
	}
	bytes, calls := int64(0), int64(0)
	for _, u := range c.unowned {
		if !slices.ContainsFunc(c.opt.Protocols, func(p *rpc.Protocol) bool { return p.Name == u.name }) { // not of another one
			bytes += u.bytes
			t.Other[u.name].Control = true
		}
	}
	for u := range c.protocols {
		calls += u.calls
	}
	before, given := int64(0), int64(0)
	for u := range c.protocols {
		before += u.calls
		share := bytes - given // without any call the first one has all
		if calls > 0 {
			hi, lo := bits.Mul64(uint64(bytes), uint64(before))
			upTo, _ := bits.Div64(hi, lo, uint64(calls))
			share = int64(upTo) - given
		}
		t.AddControl(u.Name, u.calls, share)
		given += share
	}
}

// AddControl adds to Control.
func (t *Totals) AddControl(protocol string, calls, bytes int64) {
	if t.Control == nil {
		t.Control = make(map[string]*Control)
	}
	k := t.Control[protocol]
	if k == nil {
		k = new(Control)
		t.Control[protocol] = k
	}
	k.Calls += calls
	k.Bytes += bytes
}

func (t *Totals) other(protocol string, n int64) *Other {
	if t.Other == nil {
		t.Other = make(map[string]*Other)
	}
	o := t.Other[protocol]
	if o == nil {
		o = new(Other)
		t.Other[protocol] = o
	}
	o.Connections++
	o.Bytes += n
	return o
}

// maxHandshakes is the number of different handshakes that are told apart.
const maxHandshakes = 1024

// addHandshake adds a connection with a handshake.
func (o *Other) addHandshake(h rpc.Handshake, n int64) {
	k := o.Handshakes[h]
	switch {
	case k != nil:
	case len(o.Handshakes) >= share(maxHandshakes):
		k = &o.MoreHandshakes
	default:
		k = new(Handshakes)
		if o.Handshakes == nil {
			o.Handshakes = make(map[rpc.Handshake]*Handshakes)
		}
		o.Handshakes[h] = k
	}
	k.Connections++
	k.Bytes += n
}

// ServerNames returns the hosts that handshakes name, the one with most bytes first.
func (o *Other) ServerNames() []string {
	bytes := make(map[string]int64)
	for h, k := range o.Handshakes {
		if h.ServerName != "" {
			bytes[h.ServerName] += k.Bytes
		}
	}
	return slices.SortedFunc(maps.Keys(bytes), func(a, b string) int { return cmp.Or(cmp.Compare(bytes[b], bytes[a]), cmp.Compare(a, b)) })
}

// NoResponses and NoRequests report whether one direction of all calls is missing, because no packet of one end was captured.
func (t *Totals) NoResponses() bool {
	return t.OneSided > 0 && t.Unanswered > 0 && t.Unanswered+t.OneWay+t.Aborted == t.Calls
}

func (t *Totals) NoRequests() bool {
	return t.OneSided > 0 && t.Orphans > 0 && t.Orphans == t.Calls
}

// OtherBytes returns the sum of Other.
func (t *Totals) OtherBytes() int64 {
	n := int64(0)
	for _, o := range t.Other {
		n += o.Bytes
	}
	return n
}

// nameProtocols lists the protocols that can be read from any byte, while no message was found.
func (t *Totals) nameProtocols(known []*rpc.Protocol) {
	for _, p := range known {
		if p.Resyncs && t.Frames == 0 {
			count(&t.Protocols, p.Name, 0)
		}
	}
}

// ProtocolNames returns the keys of Protocols, sorted.
func (t *Totals) ProtocolNames() []string { return slices.Sorted(maps.Keys(t.Protocols)) }

// OtherProtocols returns the keys of Other, sorted.
func (t *Totals) OtherProtocols() []string { return slices.Sorted(maps.Keys(t.Other)) }

// Percent returns the share of complete messages in the bytes of messages, skipped and missing bytes.
func (t *Totals) Percent() float64 {
	all := t.FrameBytes + t.Skipped + t.Gap
	if all == 0 {
		return 100
	}
	return 100 * float64(t.CompleteBytes) / float64(all)
}

// serverPort returns the port of the server: the destination of the first SYN, or the source of its SYN-ACK;
// otherwise the lower port.
func serverPort(c *assemble.Connection) uint16 {
	a, b := c.Ends[0].Port, c.Ends[1].Port
	switch {
	case c.Joined:
		return min(a, b)
	case c.Answered:
		return a
	}
	return b
}

// protocolName returns the protocol of a connection without messages, by its first bytes.
func (c *connection) protocolName() string {
	if c.name != "" {
		return c.name
	}
	for i := range c.dirs {
		for _, p := range c.opt.Protocols {
			if p.Sniff != nil && !p.Resyncs && p.Sniff(c.dirs[i].head()) == rpc.Mine {
				return p.Name
			}
		}
	}
	text := c.skipped+c.late == 0 && len(c.unowned) > 0
	for i := range c.dirs {
		for _, p := range c.opt.Protocols {
			if p.Fallback != nil && p.Fallback(c.dirs[i].head(), text) {
				return p.Name
			}
		}
	}
	return "unknown"
}
