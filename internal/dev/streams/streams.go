// Package streams joins the TCP segments of a capture for tests that read its bytes with another program's code. It leaves out whatever
// does not follow on what it has, so it suits captures without losses only; internal/capture/assemble is what the program uses. It also checks what a protocol keeps of the
// first bytes of a stream.
package streams

import (
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/dev/bench/traffic"
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

// Talks returns the connections of a capture, each as segments of at most size bytes in the order of the capture: side 0 is the one that
// spoke first. They end where Of ends.
func Talks(t testing.TB, file string, size int) [][]traffic.Segment {
	src, err := capture.Open([]string{file}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	next, place := map[Way]uint32{}, map[Way]int{}
	var talks [][]traffic.Segment
	var p capture.Packet
	var s packet.Segment
	var d packet.Decoder
	for {
		err := src.Next(&p)
		if err == io.EOF {
			return talks
		}
		require.NoError(t, err)
		if d.Decode(&p, &s) != packet.TCP || len(s.Payload) == 0 {
			continue
		}
		w := Way{s.Src, s.Dst}
		side := 0
		at, ok := place[w]
		if !ok {
			if at, ok = place[w.Back()]; ok {
				side = 1
			}
		}
		if !ok {
			at = len(talks)
			place[w], talks = at, append(talks, nil)
		}
		if due, ok := next[w]; ok && due != s.Seq {
			continue
		}
		next[w] = s.Seq + uint32(s.PayloadLen)
		for piece := range slices.Chunk(slices.Clone(s.Payload), size) {
			talks[at] = append(talks[at], traffic.Segment{Side: side, Data: piece})
		}
	}
}
