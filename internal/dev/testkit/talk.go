package testkit

import (
	"encoding/binary"
	"slices"
	"time"
)

// Segment is bytes that one side of a TCP connection sends in one packet. Side 0 opens the connection.
type Segment struct {
	Side int
	Data []byte
}

// Talk returns a pcap file of one TCP connection over IPv4 and Ethernet, for tests of protocols: the first two packets of the
// handshake, then the segments, one millisecond apart. The segments with the given indexes are sent twice. Read it with
// capture.Open([]string{"-"}, capture.Options{Stdin: bytes.NewReader(file)}).
func Talk(segments []Segment, twice ...int) (file []byte) {
	const syn, ack, push = 2, 16, 8
	little, big := binary.LittleEndian, binary.BigEndian
	now, seq := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), [2]uint32{1000, 5000}
	add := func(side int, flags byte, data []byte) {
		n := uint32(14 + 20 + 20 + len(data))
		for _, field := range []uint32{uint32(now.Unix()), uint32(now.Nanosecond()), n, n} {
			file = little.AppendUint32(file, field)
		}
		file = append(file, make([]byte, 12)...)                                                 // Ethernet addresses
		file = append(file, 8, 0, 0x45, 0)                                                       // IPv4
		file = append(big.AppendUint16(file, uint16(n-14)), byte(len(file)>>8), byte(len(file))) // length, identification
		file = append(file, 0, 0, 64, 6, 0, 0, 10, 0, 0, byte(1+side), 10, 0, 0, byte(2-side))
		file = big.AppendUint16(big.AppendUint16(file, uint16(40000-side*20000)), uint16(20000+side*20000)) // ports
		file = big.AppendUint32(big.AppendUint32(file, seq[side]), seq[1-side])
		file = append(append(file, 5<<4, flags, 255, 255, 0, 0, 0, 0), data...)
		now = now.Add(time.Millisecond)
	}
	for _, field := range []uint32{0xa1b23c4d, 2 | 4<<16, 0, 0, 1 << 18, 1} { // nanoseconds, Ethernet
		file = little.AppendUint32(file, field)
	}
	add(0, syn, nil)
	seq[0]++
	add(1, syn|ack, nil)
	seq[1]++
	for i, s := range segments {
		add(s.Side, ack|push, s.Data)
		if slices.Contains(twice, i) {
			add(s.Side, ack|push, s.Data)
		}
		seq[s.Side] += uint32(len(s.Data))
	}
	return file
}
