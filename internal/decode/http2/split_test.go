package http2_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// message is what is compared of a message.
type message struct {
	Side, Stream int
	Spans        []traffic.Span
	Header, Body int
	Status       int
	Complete     bool
	// Name is that of the method; in a call without request it is not known.
	Name, Protocol string
	// Index and Last are its place in its direction; after a loss they may be others.
	Index int
	Last  bool
}

func (m *message) String() string { return fmt.Sprintf("%+v", *m) }

type messages []message

func (l *messages) Frame(*pipeline.Row) {}

func (l *messages) Call(c *call.Call, _ bool) {
	name := "?/?"
	if c.Request != nil {
		name = c.Request.Service() + "/" + c.Request.Method()
	}
	for i, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			one := message{
				Side: c.Side ^ i, Stream: int(m.Exchange), Header: int(m.HeaderLen), Body: m.BodyLen, Status: int(m.Status), Complete: m.Complete,
				Name: name, Protocol: m.Protocol.Name, Index: int(m.Ordinal), Last: m.Ends,
			}
			for s := range m.Spans {
				one.Spans = append(one.Spans, traffic.Span{From: s.From, To: s.To})
			}
			*l = append(*l, one)
		}
	}
}

// read returns the messages of a connection, in the order of their first bytes, and the totals, whose books balance.
func read(t testing.TB, segments []traffic.Segment, detail rpc.Detail) (messages, *pipeline.Totals) {
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(segments))})
	require.NoError(t, err)
	var found messages
	totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: detail}, &found)
	require.NoError(t, err)
	found.sort()
	return found, totals
}

func (l messages) sort() {
	slices.SortFunc(l, func(a, b message) int {
		return cmp.Or(cmp.Compare(a.Side, b.Side), cmp.Compare(a.Spans[0].From, b.Spans[0].From))
	})
}

// sent returns what was sent, in the same order.
func sent(list []traffic.Message) (all messages) {
	for _, m := range list {
		all = append(all, message{
			Side: m.Side, Stream: int(m.Stream), Spans: m.Spans, Header: m.HeaderLen, Body: m.BodyLen, Status: m.Status,
			Complete: true, Name: m.Service + "/" + m.Method, Protocol: m.Protocol, Index: m.Ordinal, Last: m.Last,
		})
	}
	all.sort()
	return all
}

// requireSame compares messages one by one: a difference of lists is hard to read.
func requireSame(t *testing.T, want, got messages) {
	for i := range min(len(want), len(got)) {
		require.Equal(t, want[i].String(), got[i].String())
	}
	require.Len(t, got, len(want))
}

// What is found of generated traffic is what was sent.
func TestGeneratedTraffic(t *testing.T) {
	for style, name := range traffic.HTTP2Styles() {
		t.Run(name, func(t *testing.T) {
			for seed := range seeds(4) {
				segments, truth, err := traffic.HTTP2Talk(seed, style, 60, 1448)
				require.NoError(t, err)
				for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
					found, totals := read(t, segments, detail)
					require.Zero(t, totals.Skipped)
					requireSame(t, sent(truth), found)
				}
			}
		})
	}
}

// split cuts segments into pieces, whose lengths cuts has in turn.
func split(segments []traffic.Segment, cuts []byte) (pieces []traffic.Segment) {
	k := 0
	for _, s := range segments {
		for b := s.Data; len(b) > 0; k++ {
			n := len(b)
			if len(cuts) > 0 {
				n = min(n, 1+int(cuts[k%len(cuts)]))
			}
			pieces = append(pieces, traffic.Segment{Side: s.Side, Data: b[:n]})
			b = b[n:]
		}
	}
	return pieces
}

// FuzzSplit: wherever deliveries are split, the messages are the same.
func FuzzSplit(f *testing.F) {
	for style := range traffic.HTTP2Styles() {
		f.Add(uint8(1), uint8(style), []byte{0})
		f.Add(uint8(2), uint8(style), []byte{8, 0, 30, 3, 255, 1})
	}
	f.Fuzz(func(t *testing.T, seed, style uint8, cuts []byte) {
		segments, truth, err := traffic.HTTP2Talk(uint64(seed), int(style)%len(traffic.HTTP2Styles()), 6, 20_000)
		require.NoError(t, err)
		if len(cuts) > 64 {
			cuts = cuts[:64]
		}
		found, totals := read(t, split(segments, cuts), rpc.Envelope)
		assert.Zero(t, totals.Skipped)
		requireSame(t, sent(truth), found)
	})
}

// FuzzLost: whatever segments are lost, no message is reported that was not sent, and no call under another name. lost has a
// bit for each segment.
func FuzzLost(f *testing.F) {
	for style := range traffic.HTTP2Styles() {
		f.Add(uint8(1), uint8(style), []byte{0, 0x10, 0, 0, 2})
		f.Add(uint8(2), uint8(style), []byte{0xff, 0x0f})
		f.Add(uint8(3), uint8(style), []byte{0x48, 0x12, 0x80})
	}
	f.Fuzz(func(t *testing.T, seed, style uint8, lost []byte) {
		segments, truth, err := traffic.HTTP2Talk(uint64(seed), int(style)%len(traffic.HTTP2Styles()), 12, 400)
		require.NoError(t, err)
		for i := range segments {
			segments[i].Lost = i/8 < len(lost) && lost[i/8]>>(i%8)&1 == 1
		}
		checkLost(t, segments, sent(truth))
	})
}

// checkLost reads segments, some of which are lost, of what was sent.
func checkLost(t *testing.T, segments []traffic.Segment, truth messages) {
	found, _ := read(t, segments, rpc.Envelope)
	type place struct {
		side int
		at   int64
	}
	owners := map[place]*message{}
	names := map[int]string{}
	for i := range truth {
		m := &truth[i]
		names[m.Stream] = m.Name
		for _, s := range m.Spans {
			for at := s.From; at < s.To; at++ {
				owners[place{m.Side, at}] = m
			}
		}
	}
	for i := range found {
		g := &found[i]
		if method, hidden := strings.CutPrefix(g.Name, "?/"); !hidden {
			require.Equal(t, names[g.Stream], g.Name)
		} else if method != "?" { // the host may be in what was lost
			require.Equal(t, method, names[g.Stream][strings.Index(names[g.Stream], "/")+1:])
		}
		m := owners[place{g.Side, g.Spans[0].From}]
		require.NotNil(t, m, "%s was not sent", g)
		require.Equal(t, m.Stream, g.Stream)
		if g.Complete {
			want := *m
			want.Name, want.Protocol, want.Index, want.Last, want.Status = g.Name, g.Protocol, g.Index, g.Last, g.Status
			require.Equal(t, want, *g)
			if g.Status >= 0 {
				require.Equal(t, m.Status, g.Status)
			}
		} else {
			ok := slices.ContainsFunc(truth, func(m message) bool { return m.Side == g.Side && m.Stream == g.Stream && m.Body >= g.Body })
			require.True(t, ok, "found %s\nsent %s", g, m)
		}
	}
}

// The rest of a header block that is too long to be read, and ends its stream, is counted.
func TestLongHeaders(t *testing.T) {
	var server, client bytes.Buffer
	require.NoError(t, http2.NewFramer(&server, nil).WriteSettings(http2.Setting{ID: http2.SettingMaxFrameSize, Val: 1<<24 - 1}))
	client.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&client, nil)
	require.NoError(t, f.WriteSettings())
	require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: make([]byte, 1<<20+100_000), EndHeaders: true, EndStream: true}))
	list := []traffic.Segment{{Side: 1, Data: server.Bytes()}}
	for b := client.Bytes(); len(b) > 0; {
		n := min(len(b), 30_000)
		list = append(list, traffic.Segment{Data: b[:n]})
		b = b[n:]
	}
	found, totals := read(t, list, rpc.Envelope)
	require.Len(t, found, 1)
	assert.EqualValues(t, client.Len()+server.Len(), totals.FrameBytes+totals.OtherBytes())
}

// The search must not stop at a frame that is longer than announced: the reader would refuse it, and the search find it again.
func TestTooLong(t *testing.T) {
	var encoded bytes.Buffer
	e := hpack.NewEncoder(&encoded)
	for _, h := range []hpack.HeaderField{{Name: ":method", Value: "POST"}, {Name: ":scheme", Value: "http"}, {Name: "x", Value: strings.Repeat("\x00", 20_000)}} {
		require.NoError(t, e.WriteField(h))
	}
	block := encoded.Bytes()
	var client bytes.Buffer
	client.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&client, nil)
	require.NoError(t, f.WriteSettings())
	client.WriteString("\x00\x00\x01\x06\x00\x00\x00\x00\x01no frame")
	for stream := range uint32(3) {
		require.NoError(t, f.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*stream + 1, BlockFragment: block, EndHeaders: true, EndStream: true}))
	}
	found, totals := read(t, []traffic.Segment{{Data: client.Bytes()}, {Side: 1, Data: []byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00")}}, rpc.Envelope)
	assert.Empty(t, found)
	assert.EqualValues(t, client.Len()+9, totals.OtherBytes())
}
