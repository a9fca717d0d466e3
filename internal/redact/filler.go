package redact

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"

	"dubbo-wire/internal/redact/scrub"
)

// Filler replaces bytes that no message owns. It tells whether they were text and where the lines end, since the pipeline
// distinguishes stray bytes by that. Equal bytes at the same place of a stream become equal ones. Filler has neither the magic
// of a message nor the start of TLS (16) in it.
//
// letters and controls are what filler consists of: 8 characters for even places and 8 for odd ones, so that none repeats the
// one before. Words do not consist of such letters, and text has no such control characters. In a direction with frames of a protocol
// filler is letters only, because control characters look like the headers of frames.
var (
	letters  = [16]byte([]byte("qzxjvwkQZXJVWK~^"))
	controls = [16]byte([]byte("\x01\x02\x04\x05\x06\x07\x0b\x0c\x0e\x0f\x10\x11\x12\x14\x15\x17"))
)

// filler writes filler. Each goroutine has its own.
type filler struct {
	flows   keyed
	block   cipher.Block
	markers []string
	mayStay *[2][256]bool
	// What is encrypted, and the result, which would be allocated for each call.
	place, key [16]byte
}

func newFiller(a *addresses, key [32]byte, markers []string) *filler {
	return &filler{
		flows: keyed{block: a.block}, block: scrub.NewBlock(key, "packets: filler"), markers: markers, mayStay: mayStay(markers),
	}
}

// marker returns the marker of a protocol that b, which is not empty, starts with.
func (f *filler) marker(b []byte) string {
	for _, p := range f.markers {
		if b[0] == p[0] && len(b) >= len(p) && string(b[:len(p)]) == p {
			return p
		}
	}
	return ""
}

// minZeros is how many zeros in a row stay: some providers leave room for a header and do not write it.
const minZeros = 8

// write writes filler for b, bytes of the direction at from sequence number seq on, to dst, which may be b itself. framed says that the direction
// has frames of a protocol.
func (f *filler) write(dst, b []byte, at *flow, framed bool, seq uint32) {
	if len(b) == 0 {
		return
	}
	of, stay := &controls, &f.mayStay[0]
	text := framed || isText(b)
	if text {
		of, stay = &letters, &f.mayStay[1]
	}
	key, in := &f.key, &f.place
	now, have := uint32(0), false
	for i := 0; i < len(b); {
		if stay[b[i]] {
			if n := f.staying(b, i, text); n > 0 {
				i += copy(dst[i:], b[i:i+n])
				continue
			}
		}
		place := seq + uint32(i)
		if !have {
			binary.LittleEndian.PutUint64(in[:], f.flows.flow(at))
		}
		if block := place >> 4; !have || block != now {
			binary.LittleEndian.PutUint32(in[8:], block)
			f.block.Encrypt(key[:], in[:])
			now, have = block, true
		}
		rest := b[i:min(len(b), i+int(16-place&15))]
		to := dst[i:][:len(rest)]
		for k, c := range rest {
			if k > 0 && stay[c] {
				break
			}
			to[k] = of[(key[place&15]+c+c>>4)&7|byte(place&1)<<3]
			place++
			i++
		}
	}
}

// staying returns how many bytes of b stay as they are from i on.
func (f *filler) staying(b []byte, i int, text bool) int {
	switch c := b[i]; {
	case text && (c == '\n' || c == '\r'):
		return 1
	case c != 0:
		return len(f.marker(b[i:]))
	case text:
		return 0
	}
	n := len(b) - i - len(bytes.TrimLeft(b[i:], "\x00"))
	if n >= minZeros || i == 0 || i+n == len(b) {
		return n
	}
	return 0
}

// mayStay returns which bytes staying has to look at: outside text, and in text.
func mayStay(markers []string) *[2][256]bool {
	var may [2][256]bool
	may[0][0] = true
	may[1]['\n'], may[1]['\r'] = true, true
	for _, p := range markers {
		may[0][p[0]], may[1][p[0]] = true, true
	}
	return &may
}

// isText reports whether b may be a part of a telnet session: printable characters in UTF-8, which may be cut at both ends,
// and the control bytes that terminals send.
func isText(b []byte) bool {
	more, command := 0, 0
	start := 0
	for start < len(b) && start < 3 && b[start]&0xc0 == 0x80 {
		start++
	}
	for _, c := range b[start:] {
		switch {
		case command > 0:
			command--
			if c >= 0xfb && c <= 0xfe {
				command = 1
			}
		case more > 0:
			if more--; c&0xc0 != 0x80 {
				return false
			}
		case c >= 0x20 && c < 0x7f, c == '\n', c == '\r', c == '\t', c == '\b', c == 0x1b, c == 0x03:
		case c >= 0xc2 && c <= 0xdf:
			more = 1
		case c >= 0xe0 && c <= 0xef:
			more = 2
		case c >= 0xf0 && c <= 0xf4:
			more = 3
		case c == 0xff:
			command = 1
		default:
			return false
		}
	}
	return true
}
