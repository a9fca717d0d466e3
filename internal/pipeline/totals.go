package pipeline

import (
	"maps"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/rpc"
)

// Totals is what a run saw, whatever was selected of it: the books of the link, of TCP and of the streams. All in bytes
// unless said otherwise.
type Totals struct {
	Packets, LinkBytes  int64
	FirstTime, LastTime int64 // of packets, nanoseconds since the Unix epoch
	// ClockSteps is how often the recording machine's clock was set, as far as packets tell, and Steady the time from the
	// first to the last packet without these steps, in nanoseconds.
	ClockSteps, Steady int64
	// SegmentHeaders and SegmentPadding are the link bytes of packets with TCP segments that are no payload: link, IP and TCP
	// headers; what lies behind the IP packet.
	SegmentHeaders, SegmentPadding int64
	// FragmentBytes is the link bytes of packets with IP fragments that became no whole packet, or repeated others.
	FragmentBytes int64
	// OffloadedPackets had a segment larger than a wire carries, or no IP length: seen above segmentation offload.
	OffloadedPackets int64
	// Packets that are no TCP segment, by what they are.
	NotTCPBytes int64
	NotTCP      map[string]int64 // packets
	// Unread is packets that may have been TCP and could not be read: headers cut by the snap length, fragments,
	// unknown link types, contradictory headers.
	Unread map[string]int64

	// TCP is the assembler's ledger.
	TCP assemble.Ledger

	// Link bytes of messages: all, those of heartbeats and events, those of incomplete messages.
	RPCBytes, EventBytes, IncompleteBytes int64
	// SeenBytes is the link bytes of frames when they were complete, without what was sent again later: what is known of
	// RPCBytes while a run goes on.
	SeenBytes int64
	// OtherTCP is link bytes of connections without any message, by port of the listening end as far as that can be told.
	OtherTCP map[uint16]int64

	// FrameBytes is captured stream bytes of frames, CompleteBytes those of complete ones.
	FrameBytes, CompleteBytes int64
	// Other is bytes that are recognised as no RPC message, by protocol.
	Other map[string]*Other
	// Skipped is bytes owned by no frame; Gap missing bytes of known length on connections that carry frames.
	Skipped, Gap int64
	// Between is the part of Skipped on connections that the capture has from their start and without a gap.
	Between int64
	// LostGaps counts those of the gaps that were segments never seen, LostBytes their bytes; the snap length cut off the
	// rest of Gap.
	LostGaps, LostBytes int64
	// NegativeLengths counts headers at a known place that announce a negative body length.
	NegativeLengths int64

	// Protocols counts connections with messages by the name of the messages' protocol.
	Protocols map[string]int64

	Frames, Incomplete, Heartbeats, Events, Resynced int64
	// Bodies by how far they were decoded; only counted when values were asked for.
	BodiesDecoded, BodiesPartly, BodiesOpaque int64
	Causes                                    map[string]int64 // why bodies were not decoded

	Calls, OneWay, Errors, Unanswered, Orphans int64
	// Expired is unanswered calls that were given up because too many were open, ExpiredByTime those that waited for too
	// long.
	Expired, ExpiredByTime int64
	// UnknownIDs counts frames by serialization id that is registered to none.
	UnknownIDs map[uint8]int64
	// Contradicted counts frames whose bytes are in another serialization than their header says.
	Contradicted map[Contradiction]int64
}

// Contradiction is what a header says of a body, and what the body is; names as reports print them.
type Contradiction struct {
	HeaderID     uint8
	Header, Body string
}

// Other is stream bytes of a foreign protocol.
type Other struct {
	Connections, Bytes int64
}

func count[K comparable](m *map[K]int64, k K, n int64) {
	if *m == nil {
		*m = make(map[K]int64)
	}
	(*m)[k] += n
}

// Span is the time from the first to the last packet, in nanoseconds.
func (t *Totals) Span() int64 {
	if t.ClockSteps > 0 {
		return t.Steady
	}
	return t.LastTime - t.FirstTime
}

func (t *Totals) packet(p *capture.Packet) {
	if t.Packets == 0 {
		t.FirstTime, t.LastTime = p.Time, p.Time
	}
	t.FirstTime, t.LastTime = min(t.FirstTime, p.Time), max(t.LastTime, p.Time)
	t.Packets++
	t.LinkBytes += int64(p.WireLen)
}

// segment takes a packet, the last one where there were several, that brought a TCP segment.
func (t *Totals) segment(p *capture.Packet, s *packet.Segment) {
	t.SegmentPadding += int64(s.Padding)
	t.SegmentHeaders += int64(p.WireLen + s.Extra - s.PayloadLen - s.Padding)
	if s.Offloaded {
		t.OffloadedPackets++
	}
}

func (t *Totals) notTCP(p *capture.Packet, v packet.Verdict, d *packet.Decoder) {
	if v == packet.Held {
		return // it is counted with the whole packet, or at the end
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

// fragments takes the IP fragments that became no packet.
func (t *Totals) fragments(d *packet.Decoder) {
	d.Flush()
	lost, repeated := d.Abandoned()
	t.FragmentBytes += lost.Bytes + repeated.Bytes
	if lost.Packets > 0 {
		count(&t.Unread, packet.Fragment.String(), lost.Packets)
	}
}

// message takes a message; detail is what was wanted of all of them.
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
	switch m.Kind {
	case rpc.Heartbeat:
		t.Heartbeats++
	case rpc.Event:
		t.Events++
	}
	if m.Format == nil && m.SerializationID >= 0 {
		count(&t.UnknownIDs, uint8(m.SerializationID), 1)
	}
	if m.HeaderFormat != nil {
		count(&t.Contradicted, Contradiction{uint8(m.SerializationID), m.HeaderFormat.Name, m.Serialization}, 1)
	}
	if m.Tree == nil || detail < rpc.Values {
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
	}
}

// Settle takes the final link bytes of a message.
func (t *Totals) Settle(m *call.Message) {
	t.RPCBytes += m.Wire
	switch {
	case !m.Complete:
		t.IncompleteBytes += m.Wire
	case m.Kind.Control():
		t.EventBytes += m.Wire
	}
}

// connection closes the books of one connection.
func (t *Totals) connection(c *connection) {
	if c.claimed {
		t.Skipped += c.skipped
		if c.gap == 0 && !c.tcp.Joined {
			t.Between += c.skipped
		}
		t.Gap += c.gap
		t.LostGaps += c.lostGaps
		t.LostBytes += c.lostBytes
		for _, u := range c.unowned {
			t.other(u.name, u.bytes)
		}
	} else {
		n := c.skipped
		for _, u := range c.unowned {
			n += u.bytes
		}
		if n > 0 {
			t.other(c.protocolName(), n)
		}
	}
	if c.messages == 0 {
		count(&t.OtherTCP, serverPort(c.tcp), c.tcp.Link)
	}
}

func (t *Totals) other(protocol string, n int64) {
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
}

// OtherBytes is the sum over Other.
func (t *Totals) OtherBytes() int64 {
	n := int64(0)
	for _, o := range t.Other {
		n += o.Bytes
	}
	return n
}

// nameProtocols names, as long as no message was seen, the protocols that were looked for in every connection.
func (t *Totals) nameProtocols(known []*rpc.Protocol) {
	for _, p := range known {
		if p.Midway && t.Frames == 0 {
			count(&t.Protocols, p.Name, 0)
		}
	}
}

// ProtocolNames are the keys of Protocols, sorted.
func (t *Totals) ProtocolNames() []string { return slices.Sorted(maps.Keys(t.Protocols)) }

// OtherProtocols are the keys of Other, sorted.
func (t *Totals) OtherProtocols() []string { return slices.Sorted(maps.Keys(t.Other)) }

// Percent is the share of complete frames in the bytes of frames, skipped and missing ones.
func (t *Totals) Percent() float64 {
	all := t.FrameBytes + t.Skipped + t.Gap
	if all == 0 {
		return 100
	}
	return 100 * float64(t.CompleteBytes) / float64(all)
}

// serverPort is the port of the end that was asked: the one the first SYN went to, or its answer came from; without
// them the lower one.
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

// protocolName names the protocol of a connection without messages by its first bytes.
func (c *connection) protocolName() string {
	if c.name != "" {
		return c.name
	}
	for i := range c.dirs {
		for _, p := range c.opt.Protocols {
			if p.Sniff != nil && !p.Midway && p.Sniff(c.dirs[i].head) == rpc.Mine {
				return p.Name
			}
		}
	}
	text := c.skipped == 0 && len(c.unowned) > 0
	for i := range c.dirs {
		for _, p := range c.opt.Protocols {
			if p.Rest != nil && p.Rest(c.dirs[i].head, text) {
				return p.Name
			}
		}
	}
	return "unknown"
}
