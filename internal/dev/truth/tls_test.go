package truth

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/dev/truth/javalog"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// tlsLine is a line of the log about a connection of TLS.
type tlsLine struct {
	Side, Kind, Local, Remote string
	ServerName, ALPN, Version string
	Offered                   []string
	Sent                      int64
}

// TestTLS compares what is reported of handshakes with what both ends of each connection logged: the name of the server, the protocols that
// the client offers and, where it is not encrypted, the choice of the server; and the bytes that they sent.
func TestTLS(t *testing.T) {
	testkit.Each(t, 1, func(t *testing.T, c *testkit.Capture) {
		if !slices.Contains(c.Protocols, "tls") {
			return
		}
		sent := map[string]int64{} // by the client's address
		want := map[rpc.Handshake]*pipeline.Handshakes{}
		var clients []*tlsLine
		require.NoError(t, javalog.Read(strings.NewReader(c.TruthLog(t)), func(l *tlsLine) {
			client := l.Local
			if l.Side == "provider" {
				client = l.Remote
			} else {
				clients = append(clients, l)
			}
			sent[client] += l.Sent
		}))
		connections, bytes := int64(0), int64(0)
		for _, l := range clients {
			h := rpc.Handshake{ServerName: l.ServerName, Offered: strings.Join(l.Offered, ",")}
			if l.Version == "TLS 1.2" {
				h.ALPN = l.ALPN
			}
			if want[h] == nil {
				want[h] = new(pipeline.Handshakes)
			}
			want[h].Connections++
			want[h].Bytes += sent[l.Local]
			connections++
			bytes += sent[l.Local]
		}
		for _, jobs := range []int{1, 3} {
			src, err := capture.Open([]string{c.Path()}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Jobs: jobs}, groupSink{sizes.New(sizes.DefaultBy(), 0, nil)})
			require.NoError(t, err)
			assert.Equal(t, map[string]*pipeline.Other{"tls": {Connections: connections, Bytes: bytes, Handshakes: want}}, totals.Other)
		}
	})
}
