package scrub

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/http2"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// some collects a few frames of a capture, the first of each length.
type some struct {
	frames []dubbo.Frame
	seen   map[int]bool
}

func (c *some) Call(*call.Call, bool) {}

func (c *some) Frame(r *pipeline.Row) {
	if f := dubbo.FrameOf(r.Msg); len(f.Body) == f.BodyLen && f.BodyLen < 4<<10 && !c.seen[f.BodyLen] {
		f.Body = bytes.Clone(f.Body)
		c.seen[f.BodyLen] = true
		c.frames = append(c.frames, f)
	}
}

func framesOf(tb testing.TB, name string) []dubbo.Frame {
	tb.Helper()
	c := &some{seen: map[int]bool{}}
	eachMessage(tb, filepath.Join(captures, name), rpc.Values, c)
	return c.frames
}

// Whatever a frame has in it: as many bytes come out, and nothing panics.
func FuzzFrame(f *testing.F) {
	seeded := map[string]bool{}
	for _, format := range formats.All() {
		if format.Capture == "" || seeded[format.Capture] {
			continue
		}
		seeded[format.Capture] = true
		for i, frame := range framesOf(f, format.Capture) {
			if i < 6 {
				f.Add(frame.Flags, frame.Status, frame.Body, uint8(0))
			}
		}
	}
	s := New(formats.All(), key)
	d := dubbo.NewDecoder(formats.All())
	f.Fuzz(func(t *testing.T, flags, status byte, body []byte, missing uint8) {
		frame := dubbo.Frame{Header: dubbo.Header{Flags: flags, Status: status, BodyLen: len(body) + int(missing)}, Body: body}
		frame.Captured, frame.MissingAt = len(body), len(body)
		if missing > 0 {
			frame.Short = decode.Cut
		}
		was := bytes.Clone(body)
		for _, protocol := range []*rpc.Protocol{dubbo.Protocol, withMagic(dubbo.Protocol, "7")} {
			var nothing dubbo.Dialects
			m := d.Decode(&frame, rpc.Values, &nothing)
			m.Protocol = protocol
			out, note := s.Message([]byte("before"), &m.Message)
			require.Len(t, out, len("before")+dubbo.HeaderLen+len(body))
			require.Equal(t, was, body, "the frame itself is not changed")
			require.LessOrEqual(t, note.Bytes()+note.Left, len(body))
			_ = note.String()
			if fast, ok := s.Body([]byte("before"), &m.Message); ok {
				require.Equal(t, out, fast)
			}
		}
	})
}

// withMagic returns a protocol that has another magic, which is met more often.
func withMagic(p *rpc.Protocol, magic string) *rpc.Protocol {
	other := *p
	other.Magic = []byte(magic)
	return &other
}

// bodies collects bodies of a protocol.
type bodies struct {
	of                  *rpc.Protocol
	requests, responses [][]byte
}

func (*bodies) Call(*call.Call, bool) {}

func (c *bodies) Frame(r *pipeline.Row) {
	switch m := r.Msg; {
	case m.Protocol != c.of || !m.IsWhole() || m.Encoding != "" || len(m.Body) > 4<<10:
	case m.Kind == rpc.Request:
		c.requests = append(c.requests, bytes.Clone(m.Body))
	default:
		c.responses = append(c.responses, bytes.Clone(m.Body))
	}
}

// fuzzBodies begins with the bodies of captures. Whatever a body has in it: without a tree the copy is the same as with one.
func fuzzBodies(f *testing.F, contentType string, of *rpc.Protocol, files ...string) {
	f.Helper()
	c := &bodies{of: of}
	for _, file := range files {
		eachMessage(f, filepath.Join(captures, file), rpc.Envelope, c)
	}
	require.NotEmpty(f, c.requests)
	require.NotEmpty(f, c.responses)
	for _, b := range c.requests {
		f.Add(true, b)
	}
	for _, b := range c.responses {
		f.Add(false, b)
	}
	s := New(formats.All(), key)
	d, envelopes := of.NewDecoder(formats.All()), triple.NewDecoder(formats.All())
	envelopes.AllFields = true
	f.Fuzz(func(t *testing.T, request bool, body []byte) {
		message := func() *rpc.Message {
			m := new(rpc.Message)
			m.Protocol, m.Kind, m.Body, m.Complete = of, rpc.Response, body, true
			m.BodyLen, m.Captured, m.MissingAt = len(body), len(body), len(body)
			m.Headers = []rpc.Header{{Name: "content-type", Value: contentType}}
			if request {
				m.Kind, m.Operation = rpc.Request, &rpc.Operation{Service: "org.acme.Orders", Method: "find"}
			}
			return m
		}
		was := bytes.Clone(body)
		out, note := s.Message([]byte("before"), d.Decode(message(), rpc.Values))
		require.Len(t, out, len("before")+len(body))
		require.LessOrEqual(t, note.Bytes()+note.Left, len(body))
		m := message()
		envelopes.DecodeBy(triple.HeadsOf(m.Headers), m, nil, rpc.Envelope)
		if fast, ok := s.Body([]byte("before"), m); ok {
			require.Equal(t, out, fast)
			require.Empty(t, note.String())
			require.True(t, s.MayBody(m))
		}
		require.Equal(t, was, body, "the message itself is not changed")
	})
}

func FuzzWrapper(f *testing.F) {
	f.Add(true, []byte("\n\x08hessian2\x1a\x2a"+strings.Repeat("0", 42))) // begins as a wrapper does
	fuzzBodies(f, "application/grpc+proto", http2.Triple, "triple-3.3.6.pcap.zst", "triple-fastjson2-3.3.6.pcap.zst")
}

func FuzzText(f *testing.F) {
	for _, text := range []string{
		`{"a b":[-0,1.50,12345678901234567890,1e400,007,"\u00e9\n/","\ud83d",""]} `, `"tab\tand` + "\t" + `raw"`, `{"class":"a.B"}`, `{"a":1,}`, `[1 2]`, "\ufeff{}",
	} {
		f.Add(false, []byte(text))
	}
	fuzzBodies(f, "application/json", http2.REST, "rest-jetty-json-2.7.23.pcap.zst")
}

func BenchmarkFrame(b *testing.B) {
	for _, name := range []string{"hessian2", "fastjson2-3.3.6", "kryo", "java", "fastjson", "protobuf-2.7.23"} {
		b.Run(name, func(b *testing.B) {
			s, d := New(formats.All(), key), dubbo.NewDecoder(formats.All())
			frames := framesOf(b, name+".pcap.zst")
			sum := 0
			for i := range frames {
				sum += frames[i].BodyLen
			}
			b.SetBytes(int64(sum))
			var out []byte
			for b.Loop() {
				for i := range frames {
					var nothing dubbo.Dialects
					m := d.Decode(&frames[i], rpc.Values, &nothing)
					m.Protocol = dubbo.Protocol
					out, _ = s.Message(out[:0], &m.Message)
				}
			}
		})
	}
}
