package thrift

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/http2"
	"dubbo-wire/internal/decode/telnet"
	"dubbo-wire/internal/decode/tls"
	"dubbo-wire/internal/dev/bench/traffic"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/redact/scrub"
	"dubbo-wire/internal/rpc"
)

// forms are the ways to write messages.
var forms = []struct {
	name string
	st   style
	enc  encoding
}{
	{"dubbo", dubboStyle, strict},
	{"framed", framedStyle, strict},
	{"framed-loose", framedStyle, loose},
	{"framed-compact", framedStyle, compact},
	{"plain", plainStyle, strict},
	{"plain-loose", plainStyle, loose},
	{"plain-compact", plainStyle, compact},
}

// everything adds a field of each type.
func everything(w *writer, long int) {
	w.field(tString, 1)
	w.text("Grüße " + strings.Repeat("lang ", long))
	w.boolField(2, true)
	w.field(tI32, 3)
	w.integer(tI32, -1234567)
	w.field(tI64, 5)
	w.integer(tI64, 1<<40)
	w.field(tStruct, 6)
	w.structOf(func() {
		w.boolField(1, false)
		w.field(tByte, 2)
		w.integer(tByte, -7)
		w.field(tI16, 3)
		w.integer(tI16, 300)
		w.field(tDouble, 20)
		w.double(2.5)
		w.field(tMap, 40)
		w.mapOf(tString, tI32, 2)
		for i, k := range []string{"a", "b"} {
			w.text(k)
			w.integer(tI32, int64(i))
		}
		w.field(tMap, 41)
		w.mapOf(tI64, tStruct, 1)
		w.integer(tI64, 77)
		w.structOf(func() { w.field(tString, 1); w.text("") })
		w.field(tMap, 42)
		w.mapOf(tString, tString, 0)
	})
	w.field(tList, 7)
	w.list(tStruct, 2)
	for i := range 2 {
		w.structOf(func() { w.field(tI32, 1); w.integer(tI32, int64(i)) })
	}
	w.field(tSet, 8)
	w.list(tI32, 20)
	for i := range 20 {
		w.integer(tI32, int64(1000*i))
	}
	w.field(tList, 9)
	w.list(tBool, 3)
	for i := range 3 {
		w.bool(i == 1)
	}
	w.field(tString, 10)
	w.text("\x00\x01\xff")
	w.field(tUUID, 11)
	w.b = append(w.b, "0123456789abcdef"...)
	w.field(tList, 12)
	w.list(tList, 1)
	w.list(tString, 2)
	w.text("x")
	w.text("y")
}

// expected is what a message must come out as.
type expected struct {
	side, at, frame, body int
	request               bool
	id                    int64
}

// conversation is the bytes of both sides of a connection with calls, in the order in which they are sent.
type conversation struct {
	segments []traffic.Segment
	messages []expected
	sent     [2]int
}

func (c *conversation) say(side int, request bool, id int64, frame []byte, body int) {
	c.messages = append(c.messages, expected{side, c.sent[side], len(frame), body, request, id})
	c.segments = append(c.segments, traffic.Segment{Side: side, Data: frame})
	c.sent[side] += len(frame)
}

// talk makes n calls, every fifth of them long.
func talk(st style, enc encoding, n int) *conversation {
	c := new(conversation)
	for i := range n {
		seq, id := int32(i+1), int64(i+1)
		if st == dubboStyle {
			id = int64(i+1) << 33
		}
		long := 1
		if i%5 == 4 {
			long = 600
		}
		say := func(side int, kind byte, path string, f func(w *writer)) {
			m := message(enc, kind, "sayHello", seq, f)
			c.say(side, side == 0, id, surround(st, target{"com.acme.Demo$Iface", path, id}, m), len(m))
		}
		say(0, typeCall, "com.acme.Demo", func(w *writer) { everything(w, long) })
		say(1, typeReply, "", func(w *writer) {
			switch i % 4 {
			case 0:
				w.field(tString, 0)
				w.text("hello")
			case 1:
				w.field(tStruct, 2)
				w.structOf(func() { w.field(tString, 1); w.text("wrong") })
			case 2:
				w.field(tStruct, 0)
				w.structOf(func() { everything(w, long) })
			}
		})
	}
	return c
}

// others are all protocols; package protocols imports this one.
var others = []*rpc.Protocol{
	dubbo.Protocol, http2.Triple, http2.GRPC, http2.REST, http2.HTTP, http2.Protocol, Protocol, Native, telnet.Protocol, tls.Protocol,
}

// seen is what came out of a capture.
type seen struct {
	messages []expected
	rows     []string
	states   map[string]int
	resynced int
	partly   int
	foreign  []string // protocols other than Thrift's
}

func (s *seen) Frame(r *pipeline.Row) {
	m := r.Msg
	if m.Protocol != Protocol && m.Protocol != Native {
		s.foreign = append(s.foreign, m.Protocol.Name)
	}
	if m.Resync {
		s.resynced++
	}
	if !m.Complete {
		s.partly++
		return
	}
	s.messages = append(s.messages, expected{r.Side, int(m.Span.From), m.FrameLen(), m.BodyLen, m.Request, int64(m.Exchange)})
	line := fmt.Sprintf("%s %s %d/%d %s", m.Kind, m.SerializationName(), m.HeaderLen, m.BodyLen, m.Decoded)
	if m.Operation != nil {
		line += fmt.Sprintf(" %s/%s two-way=%v %s", m.Operation.Service, m.Operation.Method, m.TwoWay, m.AppendArguments(nil))
	} else {
		line += fmt.Sprintf(" %s kind=%d %s %q", m.StatusText(), m.ResultKind, m.ExceptionClass, m.ErrorMessage)
		if m.ResultKind > 0 {
			line += string(m.AppendResult([]byte(" ")))
		}
	}
	s.rows = append(s.rows, line)
}

func (s *seen) Call(c *call.Call, _ bool) {
	if s.states == nil {
		s.states = map[string]int{}
	}
	s.states[c.State().String()]++
}

func run(t testing.TB, segments []traffic.Segment, change func(*pipeline.Options), twice ...int) (*seen, *pipeline.Totals) {
	return runFile(t, traffic.Talk(segments, twice...), change)
}

func runFile(t testing.TB, file []byte, change func(*pipeline.Options)) (*seen, *pipeline.Totals) {
	t.Helper()
	src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(file)})
	require.NoError(t, err)
	defer src.Close()
	s := new(seen)
	opt := pipeline.Options{Protocols: others, Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, Rows: true, Jobs: 1}
	if change != nil {
		change(&opt)
	}
	totals, err := pipeline.Run(src, opt, s)
	require.NoError(t, err)
	return s, totals
}

// cut cuts the segments of a conversation into pieces of up to n bytes, and joins neighbours of one side before that if join is set.
func cut(segments []traffic.Segment, n int, join bool) (out []traffic.Segment) {
	for i := 0; i < len(segments); {
		side, data := segments[i].Side, slices.Clone(segments[i].Data)
		for i++; join && i < len(segments) && segments[i].Side == side; i++ {
			data = append(data, segments[i].Data...)
		}
		for p := range slices.Chunk(data, n) {
			out = append(out, traffic.Segment{Side: side, Data: p})
		}
	}
	return out
}

// Messages come out wherever packets begin and end.
func TestFrames(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			c := talk(f.st, f.enc, 12)
			pipelined := slices.Clone(c.segments)
			slices.SortStableFunc(pipelined, func(a, b traffic.Segment) int { return a.Side - b.Side })
			for name, segments := range map[string][]traffic.Segment{
				"whole": c.segments, "1 byte": cut(c.segments, 1, false), "5 bytes": cut(c.segments, 5, false), "100 bytes": cut(c.segments, 100, false),
				"pipelined": cut(pipelined, 1448, true), "pipelined, 7 bytes": cut(pipelined, 7, true),
			} {
				s, totals := run(t, segments, nil)
				byPlace := func(a, b expected) int { return 1<<30*(a.side-b.side) + a.at - b.at }
				want := slices.SortedFunc(slices.Values(c.messages), byPlace)
				assert.Equal(t, want, slices.SortedFunc(slices.Values(s.messages), byPlace), name)
				assert.Equal(t, map[string]int{"ok": 9, "error": 3}, s.states, name)
				assert.Zero(t, totals.Skipped, name)
				assert.Zero(t, s.resynced, name)
				assert.Equal(t, int64(24), totals.BodiesDecoded, name)
				assert.Equal(t, 100.0, totals.Percent(), name)
			}
		})
	}
}

// After a loss, and in a connection that was joined, messages are found again; none is found that was not sent.
func TestLosses(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			c := talk(f.st, f.enc, 60)
			sent := map[expected]bool{}
			for _, m := range c.messages {
				sent[m] = true
			}
			for round := range 30 {
				segments := cut(c.segments, []int{1448, 200, 50}[round%3], false)
				lost := 0
				for i := range segments {
					if i > 5 && random.IntN(40) == 0 {
						segments[i].Lost = true
						lost++
					}
				}
				if round%2 == 1 { // joined after the first packets, within a message or before one
					n := 1 + random.IntN(7)
					segments = segments[n:]
				}
				file := traffic.Talk(segments)
				if round%2 == 1 {
					file = withoutHandshake(file)
				}
				s, _ := runFile(t, file, nil)
				if round%2 == 0 {
					for _, m := range s.messages {
						assert.True(t, sent[m], "round %d: %+v", round, m)
					}
				}
				assert.GreaterOrEqual(t, len(s.messages)+3*lost+8, len(c.messages), "round %d: %d lost of %d", round, lost, len(segments))
				assert.LessOrEqual(t, len(s.messages), len(c.messages), "round %d", round)
			}
		})
	}
}

// withoutHandshake returns a capture without its first three packets.
func withoutHandshake(file []byte) []byte {
	at := 24
	for range 3 {
		at += 16 + int(file[at+8]) | int(file[at+9])<<8
	}
	return append(slices.Clone(file[:24]), file[at:]...)
}

// What calls carry.
func TestValues(t *testing.T) {
	arguments := `["Grüße lang ",true,-1234567,null,1099511627776,{"#1":false,"#2":-7,"#3":300,"#20":2.5,"#40":{"a":0,"b":1},` +
		`"#41":{"@map":[[77,{"#1":""}]]},"#42":{}},[{"#1":0},{"#1":1}],[0,1000,2000,3000,4000,5000,6000,7000,8000,9000,10000,11000,12000,` +
		`13000,14000,15000,16000,17000,18000,19000],[false,true,false],{"@bytes":"AAH/"},{"@bytes":"MDEyMzQ1Njc4OWFiY2RlZg=="},[["x","y"]]]`
	result := strings.NewReplacer(`["Gr`, `{"#1":"Gr`, `",true`, `","#2":true`, `,-1234567,null,`, `,"#3":-1234567,"#5":`, `776,{`, `776,"#6":{`,
		`},[{`, `},"#7":[{`, `,[0,`, `,"#8":[0,`, `,[false`, `,"#9":[false`, `,{"@bytes":"AA`, `,"#10":{"@bytes":"AA`,
		`,{"@bytes":"MD`, `,"#11":{"@bytes":"MD`, `,[["x","y"]]]`, `,"#12":[["x","y"]]}`).Replace(arguments)
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			c := talk(f.st, f.enc, 3)
			say := func(side int, kind byte, name string, fields func(w *writer)) {
				m := message(f.enc, kind, name, 9, fields)
				c.say(side, side == 0, 9, surround(f.st, target{"com.acme.Demo$Iface", "", 9}, m), len(m))
			}
			say(0, typeOneWay, "ping", func(*writer) {})
			say(0, typeCall, "no", func(*writer) {})
			say(1, typeException, "no", func(w *writer) {
				w.field(tString, 1)
				w.text("Invalid method name: 'no'")
				w.field(tI32, 2)
				w.integer(tI32, 1)
			})
			service, multiplexed := "com.acme.Demo$Iface", "more"
			if f.st != dubboStyle {
				service, multiplexed = "?", "com.acme.Demo:more"
			}
			say(0, typeCall, multiplexed, func(w *writer) { w.field(tI32, 3); w.integer(tI32, 5) })
			serialization := "thrift"
			if f.enc == compact {
				serialization = "thrift-compact"
			}
			sizes := func(i int) string {
				m := c.messages[i]
				return fmt.Sprintf("%s %d/%d full ", serialization, m.frame-m.body, m.body)
			}
			last := service
			if multiplexed != "more" {
				last = "com.acme.Demo"
			}
			s, _ := run(t, c.segments, nil)
			assert.Equal(t, []string{
				"request " + sizes(0) + service + "/sayHello two-way=true " + arguments,
				"response " + sizes(1) + `REPLY kind=1  "" "hello"`,
				"request " + sizes(2) + service + "/sayHello two-way=true " + arguments,
				"response " + sizes(3) + `REPLY kind=0 #2 ""`,
				"request " + sizes(4) + service + "/sayHello two-way=true " + arguments,
				"response " + sizes(5) + `REPLY kind=1  "" ` + result,
				"request " + sizes(6) + service + "/ping two-way=false []",
				"request " + sizes(7) + service + "/no two-way=true []",
				"response " + sizes(8) + `EXCEPTION kind=-1  "Invalid method name: 'no'"`,
				"request " + sizes(9) + last + "/more two-way=true [null,null,5]",
			}, s.rows)
			assert.Equal(t, map[string]int{"ok": 2, "error": 2, "oneWay": 1, "noResponse": 1}, s.states)
		})
	}
}

// A connection is recognised from either side alone, from the start and from the middle, and never taken for another protocol's.
func TestSides(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			c := talk(f.st, f.enc, 20)
			for side := range 2 {
				var own []traffic.Segment
				var want []expected
				for i, s := range c.segments {
					if s.Side == side {
						own, want = append(own, traffic.Segment{Data: s.Data}), append(want, c.messages[i])
						want[len(want)-1].side = 0
					}
				}
				s, _ := run(t, own, nil)
				assert.Equal(t, want, s.messages, "side %d", side)
				assert.Empty(t, s.foreign)
			}
			for n := range 12 {
				s, totals := runFile(t, withoutHandshake(traffic.Talk(c.segments[n:])), nil)
				assert.Len(t, s.messages, len(c.messages)-n, "from packet %d", n)
				assert.Empty(t, s.foreign)
				assert.Zero(t, totals.Skipped)
			}
			for n := range 40 { // within a message
				segments := cut(c.segments, 100, false)[n:]
				s, totals := runFile(t, withoutHandshake(traffic.Talk(segments)), nil)
				assert.Empty(t, s.foreign)
				assert.Less(t, totals.Skipped, int64(5000))
				assert.Greater(t, len(s.messages), len(c.messages)-14, "from packet %d", n)
			}
		})
	}
}

// scrubbed redacts messages.
type scrubbed struct {
	t    *testing.T
	s    *scrub.Scrubber
	seen map[string]bool
}

func (s *scrubbed) Frame(r *pipeline.Row) {
	m := r.Msg
	out, result := s.s.Message(nil, m)
	require.Len(s.t, out, len(m.Head)+len(m.Body))
	assert.Empty(s.t, result.Filled)
	assert.Empty(s.t, result.Refused)
	assert.Equal(s.t, m.Head, out[:len(m.Head)])
	for _, text := range []string{"Grüße", "lang ", "hello", "wrong"} {
		s.seen[text] = s.seen[text] || bytes.Contains(m.Body, []byte(text))
		assert.NotContains(s.t, string(out[len(m.Head):]), text)
	}
	again := *m
	again.Body = out[len(m.Head):]
	now := m.Protocol.NewDecoder(nil).Decode(&again, rpc.Values)
	assert.Equal(s.t, m.Parts, now.Parts)
	assert.Equal(s.t, m.Operation == nil, now.Operation == nil)
	assert.Equal(s.t, m.Exchange, now.Exchange)
	assert.Equal(s.t, m.ExceptionClass, now.ExceptionClass)
	assert.Equal(s.t, m.Decoded, now.Decoded)
	for i := range m.Tree.Nodes {
		a, b := &m.Tree.Nodes[i], &now.Tree.Nodes[i]
		assert.Equal(s.t, [...]any{a.Kind, a.Label, a.Off, a.Len, a.End}, [...]any{b.Kind, b.Label, b.Off, b.Len, b.End})
		if a.NamesCall() {
			assert.Equal(s.t, a, b)
		}
	}
}

func (*scrubbed) Call(*call.Call, bool) {}

// Redaction replaces values by others of the same length; names, types and numbers of messages stay.
func TestScrub(t *testing.T) {
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(talk(f.st, f.enc, 8).segments))})
			require.NoError(t, err)
			defer src.Close()
			sink := &scrubbed{t, scrub.New(formats.All(), [32]byte{1}), map[string]bool{}}
			_, err = pipeline.Run(src, pipeline.Options{Protocols: others, Formats: formats.All(), Detail: rpc.Values, WholeBodies: true, Rows: true, Jobs: 1}, sink)
			require.NoError(t, err)
			assert.Equal(t, map[string]bool{"Grüße": true, "lang ": true, "hello": true, "wrong": true}, sink.seen)
		})
	}
}

// Less detail gives the same sizes and names, with bounded memory for bodies, and the bytes of each class are those of the tree.
func TestDetail(t *testing.T) {
	for _, f := range forms {
		c := talk(f.st, f.enc, 10)
		segments := cut(c.segments, 100, false)
		_, full := run(t, segments, nil)
		var parts [2][]string
		for i, detail := range [...]rpc.Detail{rpc.Parts, rpc.Values} {
			sink := partsOf{}
			src, err := capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(traffic.Talk(segments))})
			require.NoError(t, err)
			_, err = pipeline.Run(src, pipeline.Options{Protocols: others, Detail: detail, WholeBodies: true, Rows: true, Jobs: 1}, &sink)
			require.NoError(t, err)
			parts[i] = sink
		}
		assert.Equal(t, parts[1], parts[0], f.name)
		for _, limit := range []int{0, 1} {
			s, totals := run(t, segments, func(o *pipeline.Options) {
				o.Detail, o.WholeBodies, o.Limits.MaxBodies = rpc.Envelope, false, limit
			})
			assert.Len(t, s.messages, 20, f.name)
			assert.Equal(t, full.FrameBytes, totals.FrameBytes, f.name)
			assert.Equal(t, full.RPCBytes, totals.RPCBytes, f.name)
		}
	}
}

// partsOf collects the bytes of messages by class.
type partsOf []string

func (p *partsOf) Frame(r *pipeline.Row) { *p = append(*p, fmt.Sprint(r.Msg.Parts)) }

func (*partsOf) Call(*call.Call, bool) {}
