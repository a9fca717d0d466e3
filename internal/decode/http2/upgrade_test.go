package http2_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/rpc"
)

// peer writes one side of a connection.
type peer struct {
	bytes.Buffer
	frames *http2.Framer
	coded  bytes.Buffer
	coder  *hpack.Encoder
}

func newPeer() *peer {
	p := new(peer)
	p.frames, p.coder = http2.NewFramer(&p.Buffer, nil), hpack.NewEncoder(&p.coded)
	return p
}

// send writes a whole message: headers and a body.
func (p *peer) send(stream uint32, body string, headers ...string) {
	p.coded.Reset()
	for i := 0; i < len(headers); i += 2 {
		_ = p.coder.WriteField(hpack.HeaderField{Name: headers[i], Value: headers[i+1]})
	}
	_ = p.frames.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: p.coded.Bytes(), EndHeaders: true, EndStream: body == ""})
	if body != "" {
		_ = p.frames.WriteData(stream, true, []byte(body))
	}
}

const (
	upgradeFields = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\nHost: acme.example:80\r\n"
	switching     = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
)

// switched returns what two peers send: a request of HTTP/1, responses of HTTP/1 that precede the frames, the response of stream 1,
// and calls on streams 3, 5 and 7 in HTTP/2. largest bounds the segments.
func switched(request, responses string, largest int) (list []traffic.Segment) {
	client, server := newPeer(), newPeer()
	flush := func(side int) {
		p := [2]*peer{client, server}[side]
		for b := bytes.Clone(p.Bytes()); len(b) > 0; {
			n := min(len(b), largest)
			list = append(list, traffic.Segment{Side: side, Data: b[:n]})
			b = b[n:]
		}
		p.Reset()
	}
	client.WriteString(request)
	flush(0)
	server.WriteString(responses)
	_ = server.frames.WriteSettings()
	flush(1)
	client.WriteString(http2.ClientPreface)
	_ = client.frames.WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 1 << 14})
	_ = client.frames.WriteWindowUpdate(0, 1<<20)
	_ = client.frames.WriteSettingsAck()
	flush(0)
	server.send(1, `{"first":true}`, ":status", "200", "content-type", "application/json", "x-server", "one")
	flush(1)
	for stream := uint32(3); stream <= 7; stream += 2 {
		client.send(stream, fmt.Sprintf("[%d]", stream), ":method", "POST", ":path", "/com.acme.Users/find", ":authority", "acme.example:80", "content-type", "application/json")
		flush(0)
		server.send(stream, `{"more":true}`, ":status", "200", "content-type", "application/json", "x-server", "one")
		flush(1)
	}
	return list
}

// requests are requests that switch, with the length of their bodies.
var upgradeRequests = []struct {
	name, text string
	body       int
}{
	{"length", "POST /com.acme.Users/first HTTP/1.1\r\n" + upgradeFields + "Content-Type: application/json\r\nContent-Length: 12\r\n\r\n[1234567890]", 12},
	{"none", "GET /com.acme.Users/first?x=1 HTTP/1.1\r\n" + upgradeFields + "\r\n", 0},
	{"zero", "POST /com.acme.Users/first HTTP/1.1\r\n" + upgradeFields + "content-length:0\r\n\r\n", 0},
	{
		"chunks", "POST /com.acme.Users/first HTTP/1.1\r\n" + upgradeFields + "Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n" +
			"4\r\n[123\r\n00a;secret=x\r\n4567890,\"\n\r\n2\r\n\"]\r\n0\r\nX-Sum: 12\r\n\r\n", 16,
	},
	{"other names", "POST /com.acme.Users/first HTTP/1.1\r\nupgrade: websocket, H2C \r\nhttp2-settings: AAEAAEAA\r\nhost: x\r\nno field\r\ncontent-length: 1\r\n\r\n1", 1},
}

// The request that switches is that of stream 1, wherever deliveries are split.
func TestUpgrade(t *testing.T) {
	for _, r := range upgradeRequests {
		t.Run(r.name, func(t *testing.T) {
			want := messages(nil)
			for _, responses := range []string{switching, "HTTP/1.1 100 Continue\r\n\r\n" + switching} {
				for largest := 1; largest < 600; largest += 1 + largest/3 {
					found, totals := read(t, switched(r.text, responses, largest), rpc.Values)
					require.Zero(t, totals.Skipped)
					require.Len(t, found, 8)
					assert.EqualValues(t, len(responses), totals.Other["http2 upgrade"].Bytes)
					assert.Nil(t, totals.Other["http1"])
					first := found[0]
					assert.Equal(t, "com.acme.Users/first", first.Name)
					assert.Equal(t, 1, first.Stream)
					assert.Equal(t, r.body, first.Body)
					assert.Equal(t, len(r.text), first.Header+first.Body)
					assert.Equal(t, "com.acme.Users/find", found[1].Name)
					for i := range found {
						assert.True(t, found[i].Complete)
						assert.Equal(t, "http2", found[i].Protocol)
					}
					if want != nil && responses == switching {
						requireSame(t, want, found)
					} else if want == nil {
						want = found
					}
				}
			}
		})
	}
}

// A connection that does not switch is one of HTTP/1, as it was without the reader.
func TestNoUpgrade(t *testing.T) {
	request := upgradeRequests[0].text
	long := "GET / HTTP/1.1\r\n" + upgradeFields
	for name, sides := range map[string][2]string{
		"refused":               {request, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]"},
		"refused, offers h2c":   {request, "HTTP/1.1 200 OK\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\n[]"},
		"another protocol":      {request, "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n\x81\x05Hello"},
		"no answer":             {request, ""},
		"no end":                {request[:100], ""},
		"body without end":      {strings.ReplaceAll(request, "th: 12", "th: 99999999999") + strings.Repeat("1", 100_000), ""},
		"not asked for":         {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n"},
		"head without end":      {long + strings.Repeat("X: 1\r\n", 40_000), ""},
		"line without end":      {long + strings.Repeat("x", 200_000), ""},
		"length not a number":   {long + "Content-Length: 1x\r\n\r\n1", switching},
		"no request":            {"POST / \r\n\r\n", switching},
		"another request":       {request + request, ""},
		"another after the 100": {request + request, "HTTP/1.1 100 Continue\r\n\r\n"},
		"chunk without end":     {long + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1", 5000), ""},
		"gRPC in chunks":        {long + "Content-Type: application/grpc\r\nContent-Length: 3000\r\n\r\n" + strings.Repeat("\x00\x00\x00\x00\x00", 600), ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, largest := range []int{7, 600, 100_000} {
				var list []traffic.Segment
				for side, text := range sides {
					list = append(list, split([]traffic.Segment{{Side: side, Data: []byte(text)}}, bytes.Repeat([]byte{byte(min(largest, 250))}, 4))...)
				}
				found, totals := read(t, list, rpc.Values)
				assert.Empty(t, found)
				assert.Zero(t, totals.Skipped)
				assert.Equal(t, []string{"http1"}, totals.OtherProtocols())
				assert.EqualValues(t, len(sides[0])+len(sides[1]), totals.Other["http1"].Bytes)
			}
		})
	}
}

// Without any one segment nothing is invented, and the calls that follow are known.
func TestUpgradeLost(t *testing.T) {
	for _, r := range upgradeRequests {
		for _, largest := range []int{40, 150, 2000} {
			list := switched(r.text, switching, largest)
			sent, _ := read(t, list, rpc.Envelope)
			for i := range list {
				list[i].Lost = true
				checkLost(t, list, sent)
				if found, _ := read(t, list, rpc.Envelope); largest == 2000 && list[i].Side == 0 && i == 0 {
					assert.Len(t, found, 7, "all but the request")
				}
				list[i].Lost = false
			}
		}
	}
}

// SETTINGS in the request hold for the server.
func TestUpgradeSettings(t *testing.T) {
	large := base64.RawURLEncoding.EncodeToString([]byte{0, 5, 0, 1, 0, 0}) // frames of 64 KiB
	request := strings.ReplaceAll(upgradeRequests[1].text, "AAEAAEAA", large)
	var server bytes.Buffer
	server.WriteString(switching)
	f := http2.NewFramer(&server, nil)
	require.NoError(t, f.WriteSettings())
	require.NoError(t, f.WriteRawFrame(0x20, 0, 0, make([]byte, 60_000)))
	_, totals := read(t, []traffic.Segment{{Data: []byte(request)}, {Side: 1, Data: server.Bytes()}}, rpc.Envelope)
	assert.Zero(t, totals.Skipped)
	assert.EqualValues(t, 60_009, totals.Other["http2 unknown frames"].Bytes)
}

// FuzzUpgrade: whatever a connection of HTTP/1 begins with, wherever it is split and what is lost of it, the books balance.
func FuzzUpgrade(f *testing.F) {
	for _, r := range upgradeRequests {
		f.Add(r.text, switching, []byte{40}, []byte{})
		f.Add(r.text, "HTTP/1.1 100 Continue\r\n\r\n"+switching, []byte{0, 250, 3}, []byte{2})
		f.Add(r.text, "HTTP/1.1 200 OK\r\n\r\n", []byte{250}, []byte{1, 0x80})
	}
	f.Fuzz(func(t *testing.T, request, responses string, cuts, lost []byte) {
		if len(request)+len(responses) > 1<<16 || len(cuts) > 64 {
			return
		}
		list := split(switched(request, responses, 1<<16), cuts)
		whole, _ := read(t, list, rpc.Values)
		some := bytes.ContainsFunc(lost, func(r rune) bool { return r != 0 })
		for i := range list {
			list[i].Lost = i/8 < len(lost) && lost[i/8]>>(i%8)&1 == 1
		}
		if some && len(whole) >= 7 {
			checkLost(t, list, whole)
		}
	})
}
