package http2_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/pipeline"
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
					assert.EqualValues(t, len(switching), totals.Other["http2 upgrade"].Bytes)
					if responses != switching {
						assert.EqualValues(t, len(responses)-len(switching), totals.Other["http1 interim responses"].Bytes)
					}
					first := found[0]
					assert.Equal(t, "com.acme.Users/first", first.Name)
					assert.Equal(t, 1, first.Stream)
					assert.Equal(t, r.body, first.Body)
					assert.Equal(t, len(r.text), first.Header+first.Body)
					assert.Equal(t, "com.acme.Users/find", found[1].Name)
					for i := range found {
						assert.True(t, found[i].Complete)
						assert.Equal(t, "http", found[i].Protocol)
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

// A connection that does not switch is one of HTTP/1. What is none of its messages is skipped.
func TestNoUpgrade(t *testing.T) {
	request := upgradeRequests[0].text
	long := "GET / HTTP/1.1\r\n" + upgradeFields
	for name, c := range map[string]struct {
		client, server string
		want           []string
		skipped        int
	}{
		"refused": {
			request, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
			[]string{"1 com.acme.Users/first 12 true", "1 200 2 true"},
			0,
		},
		"refused, offers h2c": {
			request, "HTTP/1.1 200 OK\r\nupgrade: h2c\r\ncontent-length: 2\r\n\r\n[]",
			[]string{"1 com.acme.Users/first 12 true", "1 200 2 true"},
			0,
		},
		"refused, another request": {
			request + upgradeRequests[1].text, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]",
			[]string{"1 com.acme.Users/first 12 true", "2 com.acme.Users/first 0 true", "1 200 2 true"},
			0,
		},
		"another protocol": {
			request, "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n\x81\x05Hello",
			[]string{"1 com.acme.Users/first 12 true", "1 101 0 true"},
			0,
		},
		"no end": {request[:100], "", nil, 100},
		"body without end": {
			strings.ReplaceAll(request, "th: 12", "th: 9999999") + strings.Repeat("1", 100_000), "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n",
			[]string{"1 com.acme.Users/first 9999999 false", "1 400 0 true"},
			0,
		},
		"head without end":    {long + strings.Repeat("X: 1\r\n", 40_000), "HTTP/1.0 400 \r\nContent-Length: 0\r\n\r\n", []string{"1 400 0 true"}, len(long) + 240_000},
		"line without end":    {long + strings.Repeat("x", 200_000), "HTTP/1.0 400 \r\nContent-Length: 0\r\n\r\n", []string{"1 400 0 true"}, len(long) + 200_000},
		"length not a number": {long + "Content-Length: 1x\r\n\r\n1", "HTTP/1.0 400 \r\nContent-Length: 0\r\n\r\n", []string{"1 acme.example:80/GET / 0 true", "1 400 0 true"}, 1},
		"chunk without end": {
			"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + strings.Repeat("1", 5000), "HTTP/1.0 400 \r\nContent-Length: 0\r\n\r\n",
			[]string{"1 x/GET / 0 false", "1 400 0 true"},
			5000,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, largest := range []int{7, 600, 100_000} {
				var list []traffic.Segment
				for side, text := range []string{c.client, c.server} {
					list = append(list, split([]traffic.Segment{{Side: side, Data: []byte(text)}}, bytes.Repeat([]byte{byte(min(largest, 250))}, 4))...)
				}
				found, totals := read(t, list, rpc.Values)
				assert.Equal(t, c.want, short(found))
				assert.EqualValues(t, c.skipped, skipped(totals))
			}
		})
	}
}

// short returns the number, the name or the status, the length of the body and the completeness of messages.
func short(found messages) (list []string) {
	for i := range found {
		m := &found[i]
		name := m.Name
		if m.Side == 1 {
			name = strconv.Itoa(m.Status)
		}
		list = append(list, fmt.Sprintf("%d %s %d %v", m.Stream, name, m.Body, m.Complete))
	}
	return list
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

// FuzzUpgrade: whatever a connection of HTTP/1 begins with, wherever it is split and what is lost of it, the books balance. Of requests that
// were sent as they are listed, nothing is found that was not sent; of others, what follows a lost byte may be a message of its own.
func FuzzUpgrade(f *testing.F) {
	sent := map[string]bool{}
	for _, r := range upgradeRequests {
		for _, responses := range []string{switching, "HTTP/1.1 100 Continue\r\n\r\n" + switching} {
			sent[r.text+responses] = true
			f.Add(r.text, responses, []byte{40}, []byte{})
			f.Add(r.text, responses, []byte{0, 250, 3}, []byte{2})
		}
		f.Add(r.text, "HTTP/1.1 200 OK\r\n\r\n", []byte{250}, []byte{1, 0x80})
	}
	f.Fuzz(func(t *testing.T, request, responses string, cuts, lost []byte) {
		if len(request)+len(responses) > 1<<16 || len(cuts) > 64 {
			return
		}
		list := split(switched(request, responses, 1<<16), cuts)
		whole, _ := read(t, list, rpc.Values)
		for i := range list {
			list[i].Lost = i/8 < len(lost) && lost[i/8]>>(i%8)&1 == 1
		}
		if sent[request+responses] {
			require.Len(t, whole, 8)
			checkLost(t, list, whole)
			return
		}
		read(t, list, rpc.Envelope)
	})
}

// skipped returns the bytes that belong to no message and are not recognised. Without a message they are named by the protocol.
func skipped(totals *pipeline.Totals) int64 {
	if other := totals.Other["http"]; other != nil {
		return other.Bytes
	}
	return totals.Skipped
}
