package traffic

import "slices"

// Segment is bytes that one side of a TCP connection sends in one packet. Side 0 opens the connection.
// The capture lacks it if Lost is set.
type Segment struct {
	Side int
	Data []byte
	Lost bool
	// Last is set if a FIN follows.
	Last bool
}

// Talk returns a pcap file of one TCP connection, for tests of protocols: the handshake and the segments, one millisecond
// apart. The segments with the given indexes are sent twice. Read it with
// capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(file)}).
func Talk(segments []Segment, twice ...int) (file []byte) {
	var w hostileWriter
	startOne(&w)
	next := [2]uint32{1, 1}
	for i, s := range segments {
		w.now += 1000
		if !s.Lost {
			w.tcp(onePair, s.Side == 1, flagACK|flagPSH, next[s.Side], next[1-s.Side], s.Data)
		}
		if slices.Contains(twice, i) {
			w.tcp(onePair, s.Side == 1, flagACK|flagPSH, next[s.Side], next[1-s.Side], s.Data)
		}
		next[s.Side] += uint32(len(s.Data))
		if s.Last {
			w.tcp(onePair, s.Side == 1, flagACK|flagFIN, next[s.Side], next[1-s.Side], nil)
			next[s.Side]++
		}
	}
	return w.buf
}
