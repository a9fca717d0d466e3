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
	// Conn is the number of the connection. Each has another port of the same client.
	Conn int
}

// Talk returns a pcap file of a TCP connection, or several, for tests of protocols: the handshake and the segments, one millisecond
// apart. Connections but the first one begin with their first segment. The segments with the given indexes are sent twice. Read it with
// capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(file)}).
func Talk(segments []Segment, twice ...int) (file []byte) {
	var w hostileWriter
	startOne(&w)
	conns := map[int]*[2]uint32{0: {1, 1}}
	for i, s := range segments {
		w.now += 1000
		p := pairOf(int64(s.Conn))
		next := conns[s.Conn]
		if next == nil {
			next = &[2]uint32{1, 1}
			conns[s.Conn] = next
			w.open(p)
		}
		if !s.Lost {
			w.tcp(p, s.Side == 1, flagACK|flagPSH, next[s.Side], next[1-s.Side], s.Data)
		}
		if slices.Contains(twice, i) {
			w.tcp(p, s.Side == 1, flagACK|flagPSH, next[s.Side], next[1-s.Side], s.Data)
		}
		next[s.Side] += uint32(len(s.Data))
		if s.Last {
			w.tcp(p, s.Side == 1, flagACK|flagFIN, next[s.Side], next[1-s.Side], nil)
			next[s.Side]++
		}
	}
	return w.buf
}
