package traffic

import (
	"encoding/binary"
	"io"

	"dubbo-wire/internal/capture/checksum"
)

// TCP flags (RFC 9293, section 3.1).
const (
	flagFIN = 1 << iota
	flagSYN
	_
	flagPSH
	flagACK
)

// epochMillis is the time of the first packet: 2024-05-01T08:00:00Z.
const epochMillis = 1_714_550_400_000

// endpoint is one end of a connection.
type endpoint struct {
	ip, mac uint32
	port    uint16
	ident   uint16 // IPv4 identification of the last packet sent
	clock   uint32 // TCP timestamp at the capture's start, in milliseconds
	echo    uint32 // the last TCP timestamp received
}

// writer writes packets as a pcap file (draft-ietf-opsawg-pcap).
type writer struct {
	out                           io.Writer // its errors show at the flush after the last packet
	now                           int64     // microseconds since the capture's start
	buf                           []byte
	packets, linkBytes, fileBytes int64
}

func newWriter(out io.Writer, mss int) *writer {
	w := &writer{out: out, buf: make([]byte, 0, mss+128)}
	h := appendFileHeader(nil)
	_, _ = out.Write(h)
	w.fileBytes = int64(len(h))
	return w
}

// appendFileHeader appends the header of a pcap file with times in microseconds.
func appendFileHeader(b []byte) []byte {
	b = append(b, 0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, 262_144) // snap length
	return binary.LittleEndian.AppendUint32(b, 1)    // Ethernet
}

// appendRecordHeader appends the header of a packet of size bytes in a pcap file, now microseconds after the capture's start.
func appendRecordHeader(b []byte, now int64, size int) []byte {
	at := epochMillis*1000 + now
	b = binary.LittleEndian.AppendUint32(b, uint32(at/1e6))
	b = binary.LittleEndian.AppendUint32(b, uint32(at%1e6))
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	return binary.LittleEndian.AppendUint32(b, uint32(size))
}

const (
	recordLen   = 16
	etherLen    = 14
	ipLen       = 20
	tcpLen      = 20
	tcpOptions  = 12 // of every packet
	synOptions  = 20 // of the first of each side
	offIP       = recordLen + etherLen
	offTCP      = offIP + ipLen
	offChecksum = offTCP + 16
)

// packet writes one packet, pause microseconds after the one before.
func (w *writer) packet(src, dst *endpoint, flags byte, seq, ack uint32, payload []byte, pause int64) {
	w.now += pause
	options := tcpOptions
	if flags&flagSYN != 0 {
		options = synOptions
	}
	tcp := tcpLen + options + len(payload)
	size := etherLen + ipLen + tcp

	b := appendRecordHeader(w.buf[:0], w.now, size)
	b = append(b, 2, 0)
	b = binary.BigEndian.AppendUint32(b, dst.mac)
	b = append(b, 2, 0)
	b = binary.BigEndian.AppendUint32(b, src.mac)
	b = append(b, 8, 0)

	src.ident++
	b = append(b, 0x45, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(ipLen+tcp))
	b = binary.BigEndian.AppendUint16(b, src.ident)
	b = append(b, 0x40, 0, 64, 6, 0, 0) // do not fragment · time to live · TCP · checksum
	b = binary.BigEndian.AppendUint32(b, src.ip)
	b = binary.BigEndian.AppendUint32(b, dst.ip)
	binary.BigEndian.PutUint16(b[offIP+10:], ^checksum.Fold(checksum.Sum(0, b[offIP:offTCP])))

	b = binary.BigEndian.AppendUint16(b, src.port)
	b = binary.BigEndian.AppendUint16(b, dst.port)
	b = binary.BigEndian.AppendUint32(b, seq)
	b = binary.BigEndian.AppendUint32(b, ack)
	b = append(b, byte((tcpLen+options)/4<<4), flags)
	b = append(b, 0x01, 0xf5, 0, 0, 0, 0) // window · checksum · urgent
	stamp := src.clock + uint32(w.now/1000)
	if flags&flagSYN != 0 {
		b = append(b, 2, 4, 1460>>8, 1460&0xff, 4, 2) // largest segment · selective acknowledgements
	} else {
		b = append(b, 1, 1)
	}
	b = append(b, 8, 10)
	b = binary.BigEndian.AppendUint32(b, stamp)
	b = binary.BigEndian.AppendUint32(b, src.echo)
	if flags&flagSYN != 0 {
		b = append(b, 1, 3, 3, 7) // window scale
	}
	dst.echo = stamp
	s := checksum.Sum(checksum.Pseudo(b[offIP:offTCP], 6, tcp), b[offTCP:])
	b = append(b, payload...)
	binary.BigEndian.PutUint16(b[offChecksum:], ^checksum.Fold(checksum.Sum(s, payload)))

	w.buf = b
	_, _ = w.out.Write(b)
	w.packets++
	w.linkBytes += int64(size)
	w.fileBytes += int64(len(b))
}
