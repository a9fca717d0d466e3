package msgpack

import (
	"encoding/binary"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// An extension is a type and bytes. Type -1 is the specification's timestamp. Jackson writes other types only for classes
// with their own serializer (MessagePackExtensionType), and only that knows what the bytes mean.

// timestampType is the type -1.
const timestampType = 0xff

// extension takes a type and n bytes.
func (r *Reader) extension(l decode.Label, name string, index, n int) {
	typ := r.Byte("the type of an extension")
	raw := r.Bytes(n, "the bytes of an extension")
	if !r.OK() {
		return
	}
	if typ == timestampType {
		if text, ok := timestamp(raw); ok {
			if leaf := r.Leaf(decode.Date, l, name, index); leaf != nil && r.Values() {
				leaf.Text = text
			}
			return
		}
	}
	r.FillRaw(r.Leaf(decode.Bytes, l, name, index), raw)
}

// timestamp reads the three forms of a timestamp: seconds; nanoseconds in 30 bits and seconds in 34; nanoseconds and seconds.
func timestamp(raw []byte) (text string, ok bool) {
	var seconds, nanos int64
	switch len(raw) {
	case 4:
		seconds = int64(binary.BigEndian.Uint32(raw))
	case 8:
		v := binary.BigEndian.Uint64(raw)
		seconds, nanos = int64(v&(1<<34-1)), int64(v>>34)
	case 12:
		nanos, seconds = int64(binary.BigEndian.Uint32(raw)), int64(binary.BigEndian.Uint64(raw[4:]))
	default:
		return "", false
	}
	at := time.Unix(seconds, 0).UTC()
	if nanos > 999_999_999 || seconds != at.Unix() || at.Year() < 1 || at.Year() > 9999 {
		return "", false
	}
	return jdk.Instant(at.Add(time.Duration(nanos))), true
}
