package traffic

import (
	"encoding/binary"
	"strconv"
	"strings"
)

// clientHello appends a ClientHello that names a server, in a record.
func clientHello(b []byte, server string) []byte {
	n := len(server)
	fixed := make([]byte, 2+32+1, 128) // version, random number, no session
	fixed[0], fixed[1] = 3, 3
	body := append(fixed, 0, 2, 0x13, 1, 1, 0) // a cipher suite, a compression
	body = binary.BigEndian.AppendUint16(body, uint16(n+9))
	body = append(body, 0, 0, byte((n+5)>>8), byte(n+5), byte((n+3)>>8), byte(n+3), 0, byte(n>>8), byte(n))
	body = append(body, server...)
	b = append(b, 0x16, 3, 1, byte((len(body)+4)>>8), byte(len(body)+4), 1, 0, byte(len(body)>>8), byte(len(body)))
	return append(b, body...)
}

// longHost is nearly as long as a name of a host may be.
var longHost = strings.Repeat(".example", 30)

// hostileTLS are those of TLS.
var hostileTLS = []Hostile{
	{Name: "tls-names", N: 1e6, Text: "connections of TLS, each to a server of another name of 250 bytes", send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.tcp(p, false, flagSYN, 0, 0, nil)
		w.payload = clientHello(w.payload[:0], strconv.FormatInt(1e9+i, 10)+longHost)
		w.tcp(p, false, flagACK|flagPSH, 1, 1, w.payload)
	}},
	{Name: "tls-half-hellos", N: 1e6, Text: "connections of TLS, each with a ClientHello up to the middle of a name of 250 bytes", send: func(w *hostileWriter, i int64) {
		p := pairOf(i)
		w.tcp(p, false, flagSYN, 0, 0, nil)
		b := clientHello(w.payload[:0], longHost)
		w.payload = b
		w.tcp(p, false, flagACK|flagPSH, 1, 1, b[:len(b)-10])
	}},
	{Name: "tls-extensions", N: 50_000, Text: "segments of empty extensions of a ClientHello of 16 MB, in records of 1,440 bytes", start: func(w *hostileWriter) {
		startOne(w)
		w.say([]byte("\x16\x03\x01\x00\x2f\x01\xff\xff\xff\x03\x03rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr\x00\x00\x02\x13\x01\x01\x00\xff\xff"))
	}, send: func(w *hostileWriter, _ int64) {
		w.say(w.fill([]byte{0x16, 3, 1, 0x05, 0xa0}, 1445, 0, 0xff, 0, 0))
	}},
	{Name: "tls-records", N: 50_000, Text: "segments of records of a byte, of one ClientHello", start: func(w *hostileWriter) {
		startOne(w)
		w.say([]byte("\x16\x03\x01\x00\x04\x01\xff\xff\xff"))
	}, send: repeated([]byte{0x16, 3, 1, 0, 1, 0xff})},
}
