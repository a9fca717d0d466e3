// Package extract writes the packets of selected calls into a pcapng file, with a comment at the first packet of each
// message. It reads the capture twice: calls and messages go into a [Selection], which keeps where in their streams they
// are; [Selection.Write] reads the packets again and copies those with bytes of the messages, as they were.
package extract

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// MaxMessages is how many messages are selected at most, about 100 bytes of memory each.
const MaxMessages = 1 << 21

// Selection is a sink that keeps the messages of selected calls. It is not safe for concurrent use.
type Selection struct {
	// Control also selects heartbeats and events, which belong to no call. The run must make rows.
	Control bool
	// Calls and Messages count what is selected, TooMany is set if there were more than MaxMessages.
	Calls, Messages int64
	TooMany         bool

	max     int64
	streams map[*call.Conn]*[2]direction
	names   map[string]uint32
	texts   []string // by the values of names
}

// direction is what is selected of one direction of a connection.
type direction struct {
	messages []message
	spans    []rpc.Span // bytes of the messages
	whole    bool       // all bytes are selected: messages can be read only after those before them
}

// message is one selected message.
type message struct {
	from           int64 // position of its first byte in the stream
	number, answer int64 // of the message and of the other one of its call, 0 if there is none
	exchange       uint64
	latency        int64 // nanoseconds, negative if there is none
	body           int64
	name           uint32 // in texts: what the messages of a method share
	kind           rpc.Kind
	state          call.State
	control        bool
	done           bool // the file has its comment
}

// NewSelection returns an empty selection.
func NewSelection(control bool) *Selection {
	return &Selection{
		Control: control, max: MaxMessages, streams: make(map[*call.Conn]*[2]direction), names: make(map[string]uint32),
	}
}

// Frame implements [pipeline.Sink].
func (s *Selection) Frame(r *pipeline.Row) {
	if m := r.Msg; s.Control && m.Kind.Control() {
		s.add(r.Conn, r.Side, &m.Summary, message{
			number: r.Number, latency: -1, control: true, name: s.name("", m.SerializationName()),
		})
	}
}

// Call implements [pipeline.Sink].
func (s *Selection) Call(c *call.Call, selected bool) {
	if !selected {
		return
	}
	s.Calls++
	first := c.Request
	if first == nil {
		first = c.Response
	}
	common := message{state: c.State(), latency: -1}
	if ns, ok := c.Latency(); ok {
		common.latency = ns
	}
	for i, of := range [2]*call.Message{c.Request, c.Response} {
		side, other := c.Side, c.Response
		if i == 1 {
			side, other = 1-c.Side, c.Request
		}
		for m := of; m != nil; m = m.Next {
			k := common
			k.number, k.name = m.Number, s.name(first.Service()+"/"+first.Method(), m.SerializationName())
			if other != nil {
				k.answer = other.Number
			}
			s.add(c.Conn, side, &m.Summary, k)
		}
	}
}

func (s *Selection) add(c *call.Conn, side int, m *rpc.Summary, k message) {
	if s.Messages >= s.max {
		s.TooMany = true
		return
	}
	s.Messages++
	k.from, k.kind, k.exchange, k.body = m.Span.From, m.Kind, m.Exchange, int64(m.BodyLen)
	sides := s.streams[c]
	if sides == nil {
		sides = new([2]direction)
		s.streams[c] = sides
	}
	d := &sides[side]
	d.messages = append(d.messages, k)
	if !m.Protocol.Resyncs {
		sides[0].whole, sides[1].whole = true, true
		return
	}
	for span := range m.Spans {
		d.add(span)
	}
}

// add adds bytes. Most messages come in the order of their bytes.
func (d *direction) add(s rpc.Span) {
	if n := len(d.spans); n > 0 && d.spans[n-1].To == s.From {
		d.spans[n-1].To = s.To
		return
	}
	d.spans = append(d.spans, s)
}

// sort puts the messages into the order of their first bytes, and joins overlapping bytes.
func (d *direction) sort() {
	slices.SortFunc(d.messages, func(a, b message) int { return cmp.Compare(a.from, b.from) })
	slices.SortFunc(d.spans, func(a, b rpc.Span) int { return cmp.Compare(a.From, b.From) })
	n := 0
	for _, s := range d.spans {
		if n > 0 && s.From <= d.spans[n-1].To {
			d.spans[n-1].To = max(d.spans[n-1].To, s.To)
			continue
		}
		d.spans[n] = s
		n++
	}
	d.spans = d.spans[:n]
}

// has reports whether any of the bytes from up to, not including, to is selected. The direction must be sorted.
func (d *direction) has(from, to int64) bool {
	i, _ := slices.BinarySearchFunc(d.spans, from, func(s rpc.Span, at int64) int { return cmp.Compare(s.To, at+1) })
	return i < len(d.spans) && d.spans[i].From < to
}

// name returns the number of the text that the comments of a method's messages share.
func (s *Selection) name(method, serialization string) uint32 {
	if method == call.Unknown+"/"+call.Unknown {
		method = call.Unknown
	}
	text := method + "\x00" + serialization
	n, known := s.names[text]
	if !known {
		n = uint32(len(s.texts))
		s.names[text], s.texts = n, append(s.texts, text)
	}
	return n
}

// comment returns the comment at the first packet of a message. What is not known is left out.
func (s *Selection) comment(m *message) string {
	var b strings.Builder
	method, serialization, _ := strings.Cut(s.texts[m.name], "\x00")
	fmt.Fprintf(&b, "dubbo-wire kind=%s", m.kind)
	if method != "" {
		b.WriteString(" method=" + word(method))
	}
	fmt.Fprintf(&b, " id=%d serialization=%s body=%d", int64(m.exchange), word(serialization), m.body)
	if !m.control {
		fmt.Fprintf(&b, " state=%s", m.state)
	}
	if m.latency >= 0 {
		fmt.Fprintf(&b, " latency=%s", time.Duration(m.latency))
	}
	fmt.Fprintf(&b, " frame=%d", m.number)
	switch {
	case m.answer == 0:
	case m.kind == rpc.Request:
		fmt.Fprintf(&b, " answer=%d", m.answer)
	default:
		fmt.Fprintf(&b, " request=%d", m.answer)
	}
	return b.String()
}

// maxWord is the length in bytes at which names in comments are cut: a comment has at most 64 KiB.
const maxWord = 4 << 10

// word quotes a text unless it is a single word.
func word(s string) string {
	s = s[:min(len(s), maxWord)]
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == '"' || r == '\\' || r >= 0x7f }) {
		return strconv.Quote(s)
	}
	return s
}
