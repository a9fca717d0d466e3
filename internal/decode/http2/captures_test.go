package http2_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

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
	names    map[string]string
}

func (s *seen) Frame(*pipeline.Row) {}

func (s *seen) Call(c *call.Call, _ bool) {
	name, exchange := "?/?", uint64(0)
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
				s.complete[fmt.Sprint(c.Client(), " ", c.Server(), " ", m.Request, " ", first)] = fmt.Sprintf("stream %d, %d+%d bytes:%s", m.Exchange, m.HeaderLen, m.BodyLen, spans)
			}
		}
	}
	s.names[fmt.Sprint(c.Client(), " ", c.Server(), " ", exchange)] = name
}

// see runs the pipeline on a capture, whose books balance.
func see(t *testing.T, file string, gone func(int) bool, snap int) *seen {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	s := &seen{map[string]string{}, map[string]string{}}
	_, err = pipeline.Run(&damaged{Source: src, gone: gone, snap: snap}, pipeline.Options{Protocols: protocols.All(), Formats: formats.All()}, s)
	require.NoError(t, err)
	return s
}

// What is reported as complete of a capture of Dubbo's with losses, from its middle, or with cut packets, is what is there
// without them, and no call gets another name.
func TestDamagedCaptures(t *testing.T) {
	for _, c := range testkit.Captures() {
		if !c.Sampled(1) || !slices.ContainsFunc(c.Protocols, func(name string) bool { return name == "tri" || name == "grpc" || name == "http2" }) {
			continue
		}
		file := c.Path()
		t.Run(c.Name, func(t *testing.T) {
			whole := see(t, file, nil, 0)
			require.NotEmpty(t, whole.complete)
			r := rand.New(rand.NewPCG(1, 2))
			check := func(what string, gone func(int) bool, snap int) {
				got := see(t, file, gone, snap)
				for key, text := range got.complete {
					require.Equal(t, whole.complete[key], text, "%s: %s", what, key)
				}
				named := 0
				for key, name := range got.names {
					if !strings.HasPrefix(name, "?/") && !strings.Contains(name, "/? /") && !strings.HasSuffix(name, "/$invoke") { // what is invoked is in the body
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
			for _, snap := range []int{96, 200} {
				check(fmt.Sprintf("snap length %d", snap), nil, snap)
			}
		})
	}
}
