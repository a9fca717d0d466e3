package http2_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
)

// damaged is a capture of which packets, or their ends, are missing.
type damaged struct {
	capture.Source
	gone func(n int) bool // packet n, from 0
	snap int
	n    int
}

func (d *damaged) Next(p *capture.Packet) error {
	for {
		if err := d.Source.Next(p); err != nil {
			return err
		}
		if d.n++; d.gone != nil && d.gone(d.n-1) {
			continue
		}
		if d.snap > 0 && len(p.Data) > d.snap {
			p.Data = p.Data[:d.snap]
		}
		return nil
	}
}

// seen is what a run says of the messages of a capture, by connection, side and the sequence number of the first byte, and
// of the calls, by connection and stream.
type seen struct {
	complete map[string]string
	answers  map[string]string // the complete responses to the complete requests of HTTP/1
	formats  map[string]string // the serializations of the complete ones
	names    map[string]string
}

func (s *seen) Frame(*pipeline.Row) {}

func (s *seen) Call(c *call.Call, _ bool) {
	name, exchange := "?/?", uint64(0)
	var keys [2]string
	if c.Request != nil {
		name = c.Request.Service() + "/" + c.Request.Method()
	}
	for i, m := range [2]*call.Message{c.Request, c.Response} {
		for ; m != nil; m = m.Next {
			exchange = m.Exchange
			if m.Complete {
				start := c.Conn.Starts[c.Side^i]
				spans := ""
				for span := range m.Spans {
					spans += fmt.Sprintf(" %d-%d", start+uint32(span.From), start+uint32(span.To))
				}
				first := start + uint32(m.Span.From)
				key := fmt.Sprint(c.Client(), " ", c.Server(), " ", m.Request, " ", first)
				if !m.Interleaved {
					keys[i] = key
				}
				s.formats[key] = m.Serialization
				s.complete[key] = fmt.Sprintf("%d+%d bytes:%s", m.HeaderLen, m.BodyLen, spans)
				if m.Interleaved && m.Exchange > 1 { // the ordinal of an exchange of HTTP/1 counts what was captured, and it may become stream 1
					s.complete[key] += fmt.Sprintf(", stream %d", m.Exchange)
				}
			}
		}
	}
	if keys[0] != "" && keys[1] != "" {
		s.answers[keys[0]] = keys[1]
	}
	switch {
	case c.Request == nil || c.Request.Interleaved && exchange > 1:
		s.names[fmt.Sprint(c.Client(), " ", c.Server(), " ", exchange)] = name
	default:
		s.names[fmt.Sprint(c.Client(), " ", c.Server(), " at ", c.Conn.Starts[c.Side]+uint32(c.Request.Span.From))] = name
	}
}

// see runs the pipeline on a capture, whose books balance.
func see(t *testing.T, file string, gone func(int) bool, snap int) *seen {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	s := &seen{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	_, err = pipeline.Run(&damaged{Source: src, gone: gone, snap: snap}, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, s)
	require.NoError(t, err)
	return s
}

// sentByServers reports for each packet of a capture whether the side that accepted the connection sent it.
func sentByServers(t *testing.T, file string) (sent []bool) {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	servers := map[string]bool{}
	var p capture.Packet
	for {
		if err := src.Next(&p); err != nil {
			require.ErrorIs(t, err, io.EOF)
			return sent
		}
		decoded := gopacket.NewPacket(p.Data, layers.LinkTypeEthernet, gopacket.NoCopy)
		from := ""
		if tcp, ok := decoded.TransportLayer().(*layers.TCP); ok {
			from = fmt.Sprint(decoded.NetworkLayer().NetworkFlow().Src(), tcp.SrcPort)
			if tcp.SYN && tcp.ACK {
				servers[from] = true
			}
		}
		sent = append(sent, servers[from])
	}
}

// What is reported as complete of a capture of Dubbo's with losses, from its middle, or with cut packets, is what is there
// without them, responses answer the same requests, and no call gets another name.
func TestDamagedCaptures(t *testing.T) {
	for _, c := range testkit.Captures() {
		read := []string{"tri", "grpc", "http2", "rest", "hessian", "http"}
		if strings.HasPrefix(c.Name, "rest-edge-") { // a body there is a whole message of HTTP/1, which is found if the head before it is lost
			read = []string{"http2"}
		}
		if !c.Sampled(1) || !slices.ContainsFunc(c.Protocols, func(name string) bool { return slices.Contains(read, name) }) {
			continue
		}
		file := c.Path()
		t.Run(c.Name, func(t *testing.T) {
			whole := see(t, file, nil, 0)
			require.NotEmpty(t, whole.complete)
			r := rand.New(rand.NewPCG(1, 2))
			// With one side alone it is not known that the other one reset a stream: frames that follow belong to a message there.
			strict := true
			check := func(what string, gone func(int) bool, snap int) {
				got := see(t, file, gone, snap)
				different := 0
				for key, text := range got.complete {
					if !strict && whole.complete[key] != text {
						different++
						continue
					}
					require.Equal(t, whole.complete[key], text, "%s: %s", what, key)
				}
				assert.LessOrEqual(t, different, 1, what)
				for request, response := range got.answers {
					if whole.complete[request] == got.complete[request] && whole.complete[response] == got.complete[response] {
						require.Equal(t, whole.answers[request], response, "%s: %s", what, request)
					}
				}
				named := 0
				for key, name := range got.names {
					if !strings.HasPrefix(name, "?/") && !strings.Contains(name, "/? /") && !strings.HasSuffix(name, "/$invoke") && !strings.HasSuffix(name, "/?") { // the rest is in the body
						named++
						require.Equal(t, whole.names[key], name, "%s: %s", what, key)
					}
				}
				t.Logf("%s: %d of %d messages, %d of %d calls with names", what, len(got.complete), len(whole.complete), named, len(whole.names))
				if snap == 0 {
					assert.NotEmpty(t, got.complete, what)
				}
			}
			for _, share := range []float64{0.01, 0.05} {
				for range testkit.Some([]int{1, 2, 3, 4, 5, 6}, 3) {
					check(fmt.Sprintf("%v lost", share), func(int) bool { return r.Float64() < share }, 0)
				}
			}
			for _, from := range []int{7, 20, 43} {
				check(fmt.Sprintf("from packet %d on", from), func(n int) bool { return n < from }, 0)
			}
			if fromServer := sentByServers(t, file); slices.Contains(fromServer, true) {
				strict = false
				check("server alone", func(n int) bool { return !fromServer[n] }, 0)
				alone := see(t, file, func(n int) bool { return !fromServer[n] }, 0)
				for key, name := range alone.formats {
					if whole.complete[key] == alone.complete[key] && name != "bytes" && !strings.Contains(whole.complete[key], "+0 ") { // JSON-RPC's have no type, and HEAD's no body
						assert.Equal(t, whole.formats[key], name, "server alone: %s", key)
					}
				}
				check("server alone, from packet 20 on", func(n int) bool { return n < 20 || !fromServer[n] }, 0)
				check("client alone", func(n int) bool { return fromServer[n] }, 0)
				strict = true
			}
			for _, snap := range []int{96, 200} {
				check(fmt.Sprintf("snap length %d", snap), nil, snap)
			}
		})
	}
}
