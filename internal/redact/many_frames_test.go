package redact

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/dev/bench/traffic"
)

// The copy of a message in very many frames or chunks of any kind is read as the original.
func TestManyFrames(t *testing.T) {
	inputs := map[string]func() io.Reader{
		"chunks": func() io.Reader { return bytes.NewReader(manyChunks(t)) },
	}
	for _, name := range []string{"http2-padded", "http2-empty-data", "http2-byte-continuations", "http2-more-headers", "http2-more-fields"} {
		i := slices.IndexFunc(traffic.Hostiles, func(h traffic.Hostile) bool { return h.Name == name })
		inputs[name] = func() io.Reader { return traffic.Hostiles[i].Reader(100) }
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			open := func() *capture.Files {
				src, err := capture.Open([]string{"-"}, capture.Options{Stdin: input()})
				require.NoError(t, err)
				return src
			}
			x := redactSource(t, Options{}, open())
			was, is := factsFrom(t, open()), factsOf(t, x.path)
			assert.NotEmpty(t, was.Rows)
			assert.Equal(t, was.Totals, is.Totals)
			assert.Equal(t, was.Rows, is.Rows)
			assert.Equal(t, was.Calls, is.Calls)
		})
	}
}

// manyChunks is a capture of a request in chunks of a byte, with which the connection switches to HTTP/2.
func manyChunks(t *testing.T) []byte {
	var preface, settings bytes.Buffer
	preface.WriteString(http2.ClientPreface)
	require.NoError(t, http2.NewFramer(&preface, nil).WriteSettings())
	settings.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n")
	require.NoError(t, http2.NewFramer(&settings, nil).WriteSettings())
	list := []traffic.Segment{{Data: []byte("POST /org.acme.Users/find HTTP/1.1\r\nHost: users\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n" +
		"HTTP2-Settings: AAEAAEAA\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")}}
	for range 100 {
		list = append(list, traffic.Segment{Data: []byte(strings.Repeat("1;name=anna\r\n1\r\n1\r\n2\r\n", 60))})
	}
	return traffic.Talk(append(list, traffic.Segment{Data: []byte("0\r\nTrace: anna\r\n\r\n")}, traffic.Segment{Side: 1, Data: settings.Bytes()}, traffic.Segment{Data: preface.Bytes()}))
}
