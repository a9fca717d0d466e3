package traffic

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Another reader of HTTP/2 finds the messages that the truth says, and each byte of HEADERS, CONTINUATION and DATA frames
// belongs to one of them.
func TestHTTP2Truth(t *testing.T) {
	for style, name := range HTTP2Styles() {
		t.Run(name, func(t *testing.T) {
			segments, messages, err := HTTP2Talk(7, style, 200, 1400)
			require.NoError(t, err)
			again, _, err := HTTP2Talk(7, style, 200, 1400)
			require.NoError(t, err)
			require.Equal(t, segments, again)
			seen := map[string]int{}
			paths := map[uint32]string{}
			for side := range 2 {
				var b []byte
				for _, s := range segments {
					if s.Side == side {
						b = append(b, s.Data...)
					}
				}
				readHTTP2(t, side, b, messages, paths, seen)
			}
			t.Log(len(messages), "messages", seen)
			if style == len(HTTP2Styles())-1 {
				assert.Positive(t, seen["CONTINUATION"])
				assert.Positive(t, seen["table sizes"])
			}
		})
	}
}

func readHTTP2(t *testing.T, side int, stream []byte, messages []Message, paths map[uint32]string, seen map[string]int) {
	b := stream
	owners := make([]*Message, len(b))
	lists := map[uint32][]*Message{}
	for i := range messages {
		m := &messages[i]
		if m.Side != side {
			continue
		}
		require.Len(t, lists[m.Stream], m.Ordinal)
		lists[m.Stream] = append(lists[m.Stream], m)
		n := m.HeaderLen + m.BodyLen
		for _, s := range m.Spans {
			for at := s.From; at < s.To; at++ {
				require.Nil(t, owners[at])
				owners[at] = m
				n--
			}
		}
		require.Zero(t, n)
	}
	at := 0
	if side == 0 {
		at = len(http2.ClientPreface)
		require.Equal(t, http2.ClientPreface, string(b[:at]))
	}
	r := bytes.NewReader(b[at:])
	f := http2.NewFramer(io.Discard, r)
	f.SetMaxReadFrameSize(8 << 20)
	var block []byte
	d := hpack.NewDecoder(65_536, nil)
	data := map[uint32][]byte{}
	for {
		frame, err := f.ReadFrame()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		end := len(b) - r.Len()
		h := frame.Header()
		seen[h.Type.String()]++
		list := lists[h.StreamID]
		var ends bool
		switch x := frame.(type) {
		case *http2.HeadersFrame, *http2.ContinuationFrame:
			first, whole := list[0], false
			switch x := x.(type) {
			case *http2.HeadersFrame:
				block = append([]byte(nil), x.HeaderBlockFragment()...)
				whole, ends = x.HeadersEnded(), x.StreamEnded()
				if ends {
					first = list[len(list)-1]
				}
			case *http2.ContinuationFrame:
				block = append(block, x.HeaderBlockFragment()...)
				whole = x.HeadersEnded()
			}
			for _, m := range owners[at:end] {
				require.Same(t, first, m)
			}
			if whole {
				if block[0]&0xe0 == 0x20 {
					seen["table sizes"]++
				}
				fields, err := d.DecodeFull(block)
				require.NoError(t, err)
				for _, field := range fields {
					switch field.Name {
					case ":path":
						require.Equal(t, "/"+first.Service+"/"+first.Method, field.Value)
						paths[h.StreamID] = field.Value
					case "grpc-status":
						require.Contains(t, []int{0, 12}, first.Status)
					}
				}
			}
		case *http2.DataFrame:
			ends = x.StreamEnded()
			owner := owners[at]
			for _, m := range owners[at : at+9] {
				require.Same(t, owner, m)
			}
			require.Equal(t, h.StreamID, owner.Stream)
			if n := len(x.Data()); n > 0 {
				p := at + 9
				if h.Flags.Has(http2.FlagDataPadded) {
					p++
				}
				require.Same(t, owner, owners[p])
				require.True(t, bytes.Equal(b[p:p+n], x.Data()))
				data[h.StreamID] = append(data[h.StreamID], x.Data()...)
			}
		default:
			for _, m := range owners[at:end] {
				require.Nil(t, m)
			}
		}
		if ends {
			require.True(t, list[len(list)-1].Last)
		}
		at = end
	}
	for id, list := range lists {
		b := data[id]
		for _, m := range list {
			if len(list) == 1 && m.BodyLen == 0 {
				break
			}
			require.Equal(t, m.BodyLen, int(binary.BigEndian.Uint32(b[1:])))
			var body []byte
			for _, s := range m.Body {
				body = append(body, stream[s.From:s.To]...)
			}
			require.True(t, bytes.Equal(b[5:5+m.BodyLen], body))
			b = b[5+m.BodyLen:]
		}
		require.Empty(t, b)
		require.Contains(t, paths, id)
	}
}

// Equal bodies are worth comparing: what Triple carries in its wrapper is what the dubbo protocol carries in its body, but for
// the envelope.
func TestWrapperHasTheSameValues(t *testing.T) {
	p, err := makePool()
	require.NoError(t, err)
	for _, m := range p.methods {
		for c := range nClasses {
			for _, b := range m.requests[c] {
				assert.InDelta(t, len(b.dubbo), len(b.wrapper), 330)
			}
			for _, b := range m.responses[c] {
				assert.InDelta(t, len(b.dubbo), len(b.wrapper), 50)
			}
		}
	}
}
