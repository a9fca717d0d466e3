package redact

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode/protocols"
)

// What a protocol is recognised by stays, and nothing else.
func TestKept(t *testing.T) {
	r := &Redactor{opt: Options{Protocols: protocols.All()}}
	for head, want := range map[string]string{
		"GET /secret HTTP/1.1\r\n":        "GET ",
		"HTTP/1.1 200 OK\r\n":             "HTTP/1.",
		"\x16\x03\x01\x02\x00\x01secret":  "\x16\x03\x01\x02\x00\x01",
		"\x00\x00\x00\x2e\xda\xbc\x00":    "\x00\x00\x00\x2e\xda\xbc\x00",
		"invoke pay(\"secret\")\r\n":      "invoke ",
		"ls\n":                            "ls\n",
		"lsof\n":                          "",
		"\x01\x02secret":                  "",
		"a secret that is long enough...": "",
	} {
		var got []byte
		for _, s := range r.keepHead([]byte(head)) {
			got = append(got, head[s.From:s.To]...)
		}
		assert.Equal(t, want, string(got), "%q", head)
	}
}

// Filler is text where there was text, and has no magic, no word, no letter twice in a row.
func TestFiller(t *testing.T) {
	r := New(Options{File: nowhere{new(bytes.Buffer)}, Protocols: protocols.All(), Key: testKey})
	at := new(flow)
	text := []byte("status\r\ndubbo>\xe4\xbd\xa0 one line\nand another")
	out := make([]byte, len(text))
	r.filler.write(out, text, at, false, 1000)
	assert.True(t, isText(out))
	assert.Equal(t, bytes.Count(text, []byte("\n")), bytes.Count(out, []byte("\n")))
	assert.Contains(t, string(out), "dubbo>")
	assert.NotContains(t, string(out), "line")
	// The same bytes at the same place become the same, wherever a packet begins.
	tail := make([]byte, len(text)-20)
	r.filler.write(tail, text[20:], at, false, 1020)
	assert.Equal(t, out[20:], tail)

	controls := bytes.Repeat([]byte("\xda\xbb\xc2\x00 some text \xff\xfe"), 100)
	out = make([]byte, len(controls))
	r.filler.write(out, controls, at, false, 0)
	assert.False(t, isText(out[:3]))
	assert.NotContains(t, string(out), "\xda")
	assert.NotContains(t, string(out), "some")
	for i := 1; i < len(out); i++ {
		require.False(t, out[i] == out[i-1] && out[i] != 0)
	}
	zeros := append(make([]byte, 20), "\x05\x06"...)
	out = make([]byte, len(zeros))
	r.filler.write(out, zeros, at, false, 0)
	assert.Equal(t, make([]byte, 20), out[:20])
}
