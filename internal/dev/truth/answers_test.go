package truth

import (
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// conversation makes the segments of a connection.
type conversation struct {
	ends     [2]packet.Endpoint
	seq      [2]uint32
	segments []segment
}

func newConversation() *conversation {
	c := &conversation{ends: [2]packet.Endpoint{
		packet.NewEndpoint(netip.MustParseAddrPort("10.0.0.1:40000")), packet.NewEndpoint(netip.MustParseAddrPort("10.0.0.2:20880")),
	}}
	c.say(0, packet.SYN, "")
	c.say(1, packet.SYN|packet.ACK, "")
	return c
}

func (c *conversation) say(side int, flags uint8, payload string) {
	c.segments = append(c.segments, segment{
		at: 1e18 + int64(len(c.segments))*1e6, src: c.ends[side], dst: c.ends[1-side], seq: c.seq[side], ack: c.seq[1-side],
		flags: flags, payload: []byte(payload),
	})
	c.seq[side] = c.segments[len(c.segments)-1].end()
}

func (c *conversation) frame(side int, flags, status byte, id int64, body string) {
	b := []byte{0xda, 0xbb, flags, status}
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	c.say(side, packet.ACK|packet.PSH, string(b)+body)
}

// invocation is a request body in Hessian2.
func invocation(method, descriptor, args string) string {
	text := func(s string) string { return string([]byte{byte(0x30 + len(s)>>8), byte(len(s))}) + s }
	return text("2.0.2") + text("com.x.S") + text("0.0.0") + text(method) + text(descriptor) + args + "HZ"
}

type callsOnly struct{ calls []call.Call }

func (c *callsOnly) Frame(*pipeline.Row) {}

func (c *callsOnly) Call(k *call.Call, _ bool) {
	c.calls = append(c.calls, call.Call{Request: copied(k.Request), Response: copied(k.Response)})
}

func copied(m *call.Message) *call.Message {
	if m == nil {
		return nil
	}
	n := *m
	return &n
}

// An empty text is not null; what could not be read is neither null nor left out.
func TestAnswers(t *testing.T) {
	throwable := "\x90C\x05com.E\x91\x0ddetailMessage\x60"
	for _, c := range []struct {
		name   string
		status byte
		body   string
		want   string
	}{
		{"exception", 20, throwable + "\x01m", `{"class":"com.E","message":"m"}`},
		{"exception without message", 20, throwable + "N", `{"class":"com.E","message":null}`},
		{"exception with an empty message", 20, throwable + "\x00", `{"class":"com.E","message":""}`},
		{"error", 40, "\x04boom", `{"class":null,"message":"boom"}`},
		{"error without text", 40, "N", `{"class":null,"message":null}`},
		{"error with an empty text", 40, "\x00", `{"class":null,"message":""}`},
		{"error that is cut short", 40, "", `{"class":null,"message":null}`},
		{"null", 20, "\x92", `null`},
		{"no result kind", 20, "\x96ab", `{"@opaque":3}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			talk := newConversation()
			talk.frame(0, 0xc2, 0, 1, invocation("m", "", ""))
			talk.frame(1, 0x02, c.status, 1, c.body)
			got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(talk.segments))...)
			require.Len(t, got.calls, 1)
			var m map[string]json.RawMessage
			require.NoError(t, json.Unmarshal([]byte(got.calls[0]), &m))
			assert.Equal(t, c.want, string(m["exception"])+string(m["result"]))
		})
	}
}

// The method of a generic call is the same whether only envelopes are wanted or all values.
func TestGenericMethod(t *testing.T) {
	const types = "Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;"
	for _, c := range []struct{ name, descriptor, args, want string }{
		{"as it should be", types, "\x02hi\x71\x07[string\x03int\x71\x07[object\x91", "hi"},
		{"null", types, "NNN", "$invoke"},
		{"a list", types, "\x79\x02hiNN", "$invoke"},
		{"an int", types, "\x91NN", "$invoke"},
		{"no arguments", "", "", "$invoke"},
		{"empty", types, "\x00NN", "$invoke"},
	} {
		t.Run(c.name, func(t *testing.T) {
			talk := newConversation()
			talk.frame(0, 0xc2, 0, 1, invocation("$invoke", c.descriptor, c.args))
			file := saved(t, ".pcap", ethernet.pcap(talk.segments))
			for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Values} {
				src, err := capture.Open(file, capture.Options{})
				require.NoError(t, err)
				var out callsOnly
				_, err = pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Detail: detail}, &out)
				require.NoError(t, err)
				require.Len(t, out.calls, 1)
				assert.Equal(t, c.want, out.calls[0].Request.Method(), detail)
			}
		})
	}
}

// Other traffic is listed under the port that was asked, also where only the answers were captured.
func TestOtherPorts(t *testing.T) {
	talk := newConversation()
	talk.say(0, packet.ACK, "hello")
	talk.say(1, packet.ACK, "who is there?")
	var answers []segment
	for _, s := range talk.segments {
		if s.src.Port == 20880 {
			answers = append(answers, s)
		}
	}
	for _, all := range [][]segment{talk.segments, answers, answers[1:]} {
		got := look(t, pipeline.Limits{}, saved(t, ".pcap", ethernet.pcap(all))...)
		assert.Len(t, got.totals.OtherTCP, 1)
		assert.Contains(t, got.totals.OtherTCP, uint16(20880))
	}
}
