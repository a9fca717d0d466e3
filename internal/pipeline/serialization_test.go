package pipeline

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/rpc"
)

// madeUp is a serialization that Dubbo does not have: no other one can read its bytes. A text is '$', its length and its
// characters, each xored with 0x55; a result kind '?' and a byte; an exception is '!' and its text; attachments are '#', the
// number of texts, and keys and values in turn.
var madeUp = decode.Format{
	ID: 14, Name: "made-up", Depth: decode.DepthFull,
	Starts: decode.Starts{
		Request: func(b []byte) bool {
			return len(b) > 4 && b[0] == '$' && b[1] < 32 && b[2] == '2'^0x55 && b[3] == '.'^0x55
		},
		Result: func(b []byte) bool { return len(b) > 1 && b[0] == '?' && b[1] <= 5 },
		Text:   func(b []byte) bool { return b[0] == '$' },
	},
	EmptyHeartbeats: true, ThrowableMessage: "reason", Counts: true,
	New: func() decode.Reader { return new(madeUpReader) },
}

type madeUpReader struct{ decode.Recorder }

func (r *madeUpReader) string(l decode.Label, name string, index int) string {
	if r.Byte("a text") != '$' {
		r.Fail(decode.Malformed, "a text", "")
	}
	b := slices.Clone(r.Bytes(int(r.Byte("a length")), "characters"))
	for i := range b {
		b[i] ^= 0x55
	}
	if n := r.Leaf(decode.String, l, name, index); n != nil {
		n.Text = string(b)
	}
	return string(b)
}

func (r *madeUpReader) SkipText() { r.string(decode.ByField, "", 0) }
func (r *madeUpReader) Text(name string) (string, bool) {
	return r.string(decode.ByField, name, 0), false
}

func (r *madeUpReader) ResultKind() byte {
	if r.Byte("a kind") != '?' {
		r.Fail(decode.Malformed, "a kind", "")
	}
	k := r.Byte("a kind")
	r.Leaf(decode.Int, decode.ByField, "flag", 0)
	return k
}

func (r *madeUpReader) Value(l decode.Label, name string, index int, _ string) {
	r.string(l, name, index)
}

func (r *madeUpReader) Throwable() {
	r.Byte("an exception")
	r.Open(decode.Object, decode.ByField, "exception", 0)
	r.string(decode.ByField, "reason", 0)
	r.Close()
}

func (r *madeUpReader) Attachments() {
	r.Byte("attachments")
	n := r.Byte("a number")
	r.Open(decode.Map, decode.ByField, "attachments", 0)
	for ; n > 0 && r.OK(); n -= 2 {
		key := r.string(decode.ByKey, "", 0)
		r.string(decode.ByEntry, key, 0)
	}
	r.Close()
}

func madeUpText(s string) []byte {
	b := []byte{'$', byte(len(s))}
	for _, c := range []byte(s) {
		b = append(b, c^0x55)
	}
	return b
}

// madeUpFrame is a call of a.Service.say, or its answer; to every fifth that is an exception.
func madeUpFrame(request bool, id byte) []byte {
	flags, status, body := byte(14), byte(dubbo.StatusOK), []byte("?\x04")
	switch {
	case request:
		flags, status, body = 0xc0|14, 0, nil
		for _, s := range []string{"2.0.2", "a.Service", "1.0.0", "say", "Ljava/lang/String;", "an argument"} {
			body = append(body, madeUpText(s)...)
		}
	case id%5 == 0:
		body = append([]byte("?\x03!"), madeUpText("so many")...)
	default:
		body = append(body, madeUpText("a result")...)
	}
	body = append(body, '#', 2)
	body = append(append(body, madeUpText("group")...), madeUpText("g")...)
	b := []byte{0xda, 0xbb, flags, status, 0, 0, 0, 0, 0, 0, 0, id}
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// madeUpSink counts what was understood.
type madeUpSink struct {
	read, heartbeats int
	found            [2]int // found by searching, by side
	reasons          []string
	states           map[string]int
}

func (s *madeUpSink) Frame(r *Row) {
	m := r.Msg
	switch {
	case m.Kind == rpc.Heartbeat:
		s.heartbeats++
	case m.Serialization == "made-up" && m.Decoded == "full" && (m.Operation == nil || m.Operation.Method == "say" && m.Group == "g"):
		s.read++
	}
	if r.Msg.Resync {
		s.found[r.Side]++
	}
	if m.HasErrorText {
		s.reasons = append(s.reasons, m.ExceptionMessage)
	}
}

func (s *madeUpSink) Call(c *call.Call, _ bool) { s.states[c.State().String()]++ }

// A serialization is one line in the list: then the frames after a loss are found, and those of a connection joined midway,
// its bodies are read, also empty heartbeats, and the messages of its exceptions are known.
func TestMadeUpSerialization(t *testing.T) {
	const calls = 60
	heartbeat := []byte{0xda, 0xbb, 0xe0 | 14, 0, 0, 0, 0, 0, 0, 0, 0, calls + 1, 0, 0, 0, 0}
	capture := func(joined bool) *script {
		s := &script{}
		if !joined {
			s.send(cli, srv, syn, 0, nil)
			s.send(srv, cli, syn|ack, 0, nil)
		}
		var seq [2]uint32
		packet := func(side int, b []byte, lost bool) {
			if !lost {
				ports := [2]uint16{cli, srv}
				s.send(ports[side], ports[1-side], ack, 1+seq[side], b)
			}
			seq[side] += uint32(len(b))
		}
		for id := byte(1); id <= calls; id++ {
			for side, b := range [][]byte{madeUpFrame(true, id), madeUpFrame(false, id)} {
				// Of a frame in two packets the one with its header is lost, and a joined connection begins with the other one.
				lost := !joined && id%20 == 7 || joined && id == 1
				packet(side, b[:30], lost)
				packet(side, b[30:], false)
			}
			if id%20 == 9 {
				packet(0, heartbeat, false)
			}
		}
		return s
	}
	run := func(s *script, list []decode.Format) (*Totals, *madeUpSink) {
		s.at = 0
		out := &madeUpSink{states: map[string]int{}}
		totals, err := Run(s, Options{Protocols: protocols.All(), Formats: list, Rows: true, Detail: rpc.Values}, out)
		require.NoError(t, err)
		return totals, out
	}
	t.Run("after a loss", func(t *testing.T) {
		s := capture(false)
		totals, out := run(s, append(formats.All(), madeUp))
		assert.Equal(t, 2*(calls-3), out.read, "all but those without a header")
		assert.Equal(t, 3, out.heartbeats)
		assert.GreaterOrEqual(t, out.found[0], 3, "of the client behind each loss")
		assert.GreaterOrEqual(t, out.found[1], 3, "of the server")
		assert.Equal(t, slices.Repeat([]string{"so many"}, calls/5), out.reasons)
		assert.Equal(t, map[string]int{"ok": calls - 3 - calls/5, "error": calls / 5}, out.states)
		assert.Empty(t, totals.UnknownIDs)
		unknown, out := run(s, formats.All())
		assert.Zero(t, out.read)
		assert.Less(t, unknown.Frames, totals.Frames, "nobody knows how its bodies start")
	})
	t.Run("joined midway", func(t *testing.T) {
		_, out := run(capture(true), append(formats.All(), madeUp))
		assert.Equal(t, 2*(calls-1), out.read)
		assert.Equal(t, [2]int{1, 1}, out.found)
		assert.Equal(t, map[string]int{"ok": calls - 1 - calls/5, "error": calls / 5}, out.states)
	})
}
