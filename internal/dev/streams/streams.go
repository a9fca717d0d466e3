// Package streams joins the TCP segments of a capture for tests that read its bytes with another program's code. It leaves out whatever
// does not follow on what it has, so it suits captures without losses only; internal/capture/assemble is what the program uses.
package streams

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
)

// Way is one direction of a connection.
type Way struct{ Src, Dst packet.Endpoint }

// Back is the other direction.
func (w Way) Back() Way { return Way{w.Dst, w.Src} }

// Of returns the payload of each direction of a capture up to the first hole in it, and the directions in the order of their first
// packets with payload.
func Of(t testing.TB, file string) (map[Way][]byte, []Way) {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	bytes, next := map[Way][]byte{}, map[Way]uint32{}
	var order []Way
	var p capture.Packet
	var s packet.Segment
	var d packet.Decoder
	for {
		err := src.Next(&p)
		if err == io.EOF {
			return bytes, order
		}
		require.NoError(t, err)
		if d.Decode(&p, &s) != packet.TCP || len(s.Payload) == 0 {
			continue
		}
		w := Way{s.Src, s.Dst}
		if at, ok := next[w]; !ok {
			order = append(order, w)
		} else if at != s.Seq {
			continue
		}
		next[w] = s.Seq + uint32(s.PayloadLen)
		bytes[w] = append(bytes[w], s.Payload...)
	}
}
