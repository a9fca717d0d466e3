package tls

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/streams"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// recognised reports whether the first bytes of a direction tell TLS.
func recognised(head []byte) bool { return sniff(head) == rpc.Mine || recordsLen(head) > 0 }

func TestRecognised(t *testing.T) {
	for head, want := range map[string]bool{
		"\x16\x03\x01":                                                                     true, // more may contradict it
		"\x16\x03\x01\x02\x00":                                                             true,
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc":                                             true,
		"\x16\x03\x03\x00\x7a\x02":                                                         true,
		"\x16\x03\x03\x00\x7a\x0b":                                                         true, // a certificate in a record of its own, seen from the middle
		"\x16\x03\x05\x02\x00\x01":                                                         false,
		"\x16\x03\x01\x00\x00\x01":                                                         false,
		"\x16\x03\x01\xff\x00\x01":                                                         false,
		"\x15\x03\x01\x00\x02\x02\x78":                                                     true, // a server that refuses
		"\x15\x03\x03\x00\x02\x03\x78":                                                     false,
		"\x17\x03\x03\x00\x45" + strings.Repeat("x", 19):                                   true,
		"\x17\x03\x03\x40\x11" + strings.Repeat("x", 19):                                   true,
		"\x17\x03\x03\x00\x45":                                                             true,
		"\x17\x03\x03\x00\x00" + strings.Repeat("x", 19):                                   false,
		"\x17\x03\x03\x49\x00" + strings.Repeat("x", 19):                                   false,
		"\x17\x03\x00\x00\x45" + strings.Repeat("x", 19):                                   false,
		"\x18\x03\x03\x00\x45" + strings.Repeat("x", 19):                                   false,
		"\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x28" + strings.Repeat("x", 13):           true,
		"\x14\x03\x03\x00\x01\x01\x17\x03\x03\x00\x28" + strings.Repeat("x", 13):           true,
		"\x14\x03\x03\x00\x01\x01\x18\x03\x03\x00\x28" + strings.Repeat("x", 13):           false,
		"\x14\x03\x03\x00\x02\x01\x01":                                                     false,
		"\x17\x03\x03\x00\x09" + strings.Repeat("x", 9) + "\x17\x03\x03\x00\x09" + "abcde": true,
		"\x17\x03\x03\x00\x09" + strings.Repeat("x", 9) + "\x19\x03\x03\x00\x09" + "abcde": false,
		"": false, "\x17": false,
	} {
		assert.Equal(t, want, recognised([]byte(head)), "%q", head)
	}
}

// notes is what a connection reports.
type notes struct {
	rpc.Owner
	bytes int64
	list  []rpc.Handshake
}

func (n *notes) Claim(string)                     {}
func (n *notes) Unowned(_ int, k int64, _ string) { n.bytes += k }
func (n *notes) Handshake(h rpc.Handshake)        { n.list = append(n.list, h) }

// talk returns what a connection reports of the bytes of its sides, in pieces of random lengths.
func talk(client, server []byte, largest int) *notes {
	n := new(notes)
	c := Protocol.New(Protocol, nil)(n, false)
	r := rand.New(rand.NewPCG(uint64(largest), 1))
	for side, b := range [2][]byte{client, server} {
		for len(b) > 0 {
			k := 1 + r.IntN(min(largest, len(b)))
			c.Data(side, b[:k], nil)
			b = b[k:]
		}
	}
	c.End(0, true)
	c.End(1, true)
	return n
}

// The handshakes of the rig's connections are read alike in all pieces, and by one side as far as it tells.
func TestPieces(t *testing.T) {
	seen, order := streams.Of(t, testkit.Get(t, "tls-go-1.26.8").Path())
	names := map[string]bool{}
	for _, way := range order {
		client, server := seen[way], seen[way.Back()]
		if client[5] != clientHello {
			continue
		}
		want := talk(client, server, 1<<20)
		require.Len(t, want.list, 1)
		assert.EqualValues(t, len(client)+len(server), want.bytes)
		names[want.list[0].ServerName] = true
		for _, largest := range []int{1, 2, 7, 100} {
			assert.Equal(t, want, talk(client, server, largest))
		}
		alone := talk(client, nil, 50).list
		assert.Equal(t, []rpc.Handshake{{ServerName: want.list[0].ServerName, Offered: want.list[0].Offered}}, alone)
		if alone = talk(nil, server, 50).list; want.list[0].ALPN == "" {
			assert.Empty(t, alone)
		} else {
			assert.Equal(t, []rpc.Handshake{{ALPN: want.list[0].ALPN}}, alone)
		}
		for k := range 300 { // a hello that breaks off tells what came, or nothing
			for _, h := range talk(client[:k], nil, 20).list {
				assert.Contains(t, []string{"", want.list[0].ServerName}, h.ServerName)
			}
		}
	}
	assert.Len(t, names, 11) // of which one is none
}

// helloOf returns a ClientHello with these extensions, in records of at most so many bytes.
func helloOf(extensions string, largest int) []byte {
	body := "\x03\x03" + strings.Repeat("r", 32) + "\x00" + "\x00\x02\x13\x01" + "\x01\x00"
	body += string(binary.BigEndian.AppendUint16(nil, uint16(len(extensions)))) + extensions
	message := append([]byte{clientHello, byte(len(body) >> 16), byte(len(body) >> 8), byte(len(body))}, body...)
	var b []byte
	for len(message) > 0 {
		n := min(largest, len(message))
		b = append(append(b, handshake, 3, 1, byte(n>>8), byte(n)), message[:n]...)
		message = message[n:]
	}
	return b
}

func extension(kind byte, data string) string {
	return "\x00" + string([]byte{kind}) + string(binary.BigEndian.AppendUint16(nil, uint16(len(data)))) + data
}

func nameList(name string) string {
	n := len(name)
	return string([]byte{byte((n + 3) >> 8), byte(n + 3), 0, byte(n >> 8), byte(n)}) + name
}

// Names that no host has, and protocols that no text is, are not reported; whatever lengths say, nothing is read that is not there.
func TestHello(t *testing.T) {
	list := func(names ...string) string {
		text := ""
		for _, name := range names {
			text += string([]byte{byte(len(name))}) + name
		}
		return string(binary.BigEndian.AppendUint16(nil, uint16(len(text)))) + text
	}
	for name, test := range map[string]struct {
		extensions string
		want       rpc.Handshake
	}{
		"both":              {extension(0, nameList("A.example")) + extension(16, list("h2", "http/1.1")), rpc.Handshake{ServerName: "a.example", Offered: "h2,http/1.1"}},
		"none":              {"", rpc.Handshake{}},
		"unknown extension": {extension(10, "abc") + extension(0, nameList("a.example")), rpc.Handshake{ServerName: "a.example"}},
		"control":           {extension(0, nameList("a\x1b[31m.example")), rpc.Handshake{}},
		"empty name":        {extension(0, nameList("")), rpc.Handshake{}},
		"no list":           {extension(0, "\x00"), rpc.Handshake{}},
		"empty extension":   {extension(0, "") + extension(16, list("h2")), rpc.Handshake{Offered: "h2"}},
		"long name":         {extension(0, nameList(strings.Repeat("a", 254))) + extension(16, list("h2")), rpc.Handshake{Offered: "h2"}},
		"longest name":      {extension(0, nameList(strings.Repeat("a", 253))), rpc.Handshake{ServerName: strings.Repeat("a", 253)}},
		"too long":          {extension(0, nameList(strings.Repeat("a", 600))) + extension(16, list("h2")), rpc.Handshake{Offered: "h2"}},
		"length beyond":     {extension(0, "\x00\x09\x00\x00\xffa.example"), rpc.Handshake{}},
		"GREASE":            {extension(16, list("\x0a\x0a", "h2", "a,b", "a\nb", strings.Repeat("x", 33))), rpc.Handshake{Offered: "h2"}},
		"cut list":          {extension(16, "\x00\x09\x02h2\xffh"), rpc.Handshake{Offered: "h2"}},
		"many":              {extension(16, list(strings.Split(strings.Repeat("a ", 20)+"a", " ")...)), rpc.Handshake{Offered: "a,a,a,a,a,a,a,a"}},
		"cut extension":     {extension(16, list("h2")) + "\x00\x00\xff\xff\x00", rpc.Handshake{Offered: "h2"}},
	} {
		for _, largest := range []int{1, 30, 1 << 14} {
			assert.Equal(t, []rpc.Handshake{test.want}, talk(helloOf(test.extensions, largest), nil, 40).list, name)
		}
	}
	assert.Empty(t, talk([]byte("\x16\x03\x01\x40\x00\x0b"+strings.Repeat("\x00", 100)), nil, 40).list, "not a hello")
	assert.Empty(t, talk(bytes.Repeat([]byte("\x16\x03\x01\x00\x00"), 100), nil, 40).list, "empty records")
}

// FuzzConn: whatever both sides send, every byte is counted, in any pieces the same is read, and what is reported can be printed.
func FuzzConn(f *testing.F) {
	f.Add(helloOf(extension(0, nameList("a.example"))+extension(16, "\x00\x03\x02h2"), 1<<14), []byte("\x16\x03\x03\x00\x30\x02\x00\x00\x2c\x03\x03"))
	f.Add(helloOf(extension(0, "\xff\xff\x00\xff\xff"), 7), []byte("\x15\x03\x01\x00\x02\x02\x78"))
	f.Add([]byte("\x16\x03\x01\x48\x00\x01\xff\xff\xff"), []byte("\x17\x03\x03\x00\x45"))
	f.Fuzz(func(t *testing.T, client, server []byte) {
		want := talk(client, server, 1<<20)
		require.EqualValues(t, len(client)+len(server), want.bytes)
		require.LessOrEqual(t, len(want.list), 1)
		for _, h := range want.list {
			for _, text := range []string{h.ServerName, h.ALPN, h.Offered} {
				require.NotContains(t, strings.Map(func(c rune) rune {
					if c <= ' ' || c > '~' {
						return '\x00'
					}
					return c
				}, text), "\x00")
				require.LessOrEqual(t, len(text), 512)
			}
		}
		for _, largest := range []int{1, 9} {
			require.Equal(t, want, talk(client, server, largest))
		}
	})
}

// FuzzHead: whatever a direction begins with, what stays in a redacted copy is recognised as the original is.
func FuzzHead(f *testing.F) {
	for _, head := range []string{
		"\x16\x03\x01", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc", "\x15\x03\x01\x00\x02\x02\x78", "\x14\x03\x03\x00\x01\x01\x16\x03\x03\x00\x28" + strings.Repeat("x", 13),
		"\x17\x03\x03\x40\x11" + strings.Repeat("x", 19),
	} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		head = head[:min(len(head), rpc.HeadLen)]
		require.Equal(t, sniff(head), sniff(streams.RequireKept(t, head, keepHead, recognised)))
	})
}
