package dubboserialization

import (
	"encoding/binary"
	"math"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// boolean takes a Boolean: the numbers 0, 1, or -1 for null.
func (r *Reader) boolean(p place) {
	at := r.Off
	tag := r.Byte("a Boolean")
	if r.OK() && (tag < tagZero-1 || tag > tagZero+1) {
		r.FailAt(at, decode.Malformed, "a Boolean", decode.HexByte(tag))
	}
	r.scalar(p, func(n *decode.Node) {
		if tag != tagZero-1 {
			rawBool.set(n, int64(tag)-tagZero)
		}
	})
}

func (r *Reader) box(f form, p place) {
	if r.null(tagValue, "a box", p) {
		return
	}
	v := r.varint("the value of a box")
	r.scalar(p, func(n *decode.Node) {
		if f == date {
			n.Kind = decode.Date
			if r.Values() {
				n.Text = jdk.Instant(time.UnixMilli(v))
			}
			return
		}
		f.set(n, v)
	})
}

// set fills n with the value that v stands for in that form.
func (f form) set(n *decode.Node, v int64) {
	switch f {
	case rawBool:
		n.Kind, n.Num = decode.Bool, v
	case character, rawChar:
		n.Kind, n.Text = decode.Char, string(rune(uint16(v))) // half a surrogate pair becomes U+FFFD
	case float, rawFloat:
		n.Kind, n.Float = decode.Float32, float64(math.Float32frombits(uint32(v)))
	case double, rawDouble:
		n.Kind, n.Float = decode.Float64, math.Float64frombits(uint64(v))
	default:
		n.Kind, n.Num = decode.Int, v
	}
}

func (r *Reader) byteArray(p place) {
	b, _ := r.Peek()
	var raw []byte
	if b == tagNothing {
		r.Off++
	} else {
		if r.null(tagBytes, "a byte array", p) {
			return
		}
		raw = r.Bytes(r.elements("the length of a byte array"), "a byte array")
	}
	r.FillRaw(r.Scalar(p.Place, decode.Bytes), raw)
}

// bigInteger takes a BigInteger by its fields: four counts, the magnitude, the sign. Newer JDKs have other names for them,
// in the same order.
func (r *Reader) bigInteger(c class, p place) {
	if b, _ := r.Peek(); b != tagObject {
		r.tagged(c, p)
		return
	}
	start := r.Mark()
	r.Off++
	count := r.varint("the number of fields")
	for range 4 {
		r.varint("a field")
	}
	if tag := r.Byte("a magnitude"); tag != tagValues || count != 6 || !r.OK() {
		r.Rewind(start)
		c.form = plain
		r.tagged(c, p)
		return
	}
	parts := r.elements("the length of a magnitude")
	magnitude := make([]byte, 0, min(4*parts, 4*maxMagnitude))
	for range parts {
		v := r.varint("a part of a magnitude")
		if !r.OK() {
			return
		}
		if parts <= maxMagnitude {
			magnitude = binary.BigEndian.AppendUint32(magnitude, uint32(v))
		}
	}
	sign := r.varint("a sign")
	if parts > maxMagnitude {
		r.NeedTree()
	}
	node := r.NextNode()
	r.scalar(p, func(n *decode.Node) {
		n.Kind = decode.Decimal
		if parts > maxMagnitude {
			n.Kind = decode.Opaque
		} else if r.Values() {
			n.Text = jdk.Integer(magnitude, sign < 0).String()
		}
	})
	r.refer(node)
}

// maxMagnitude bounds the numbers that are printed, in parts of 32 bits.
const maxMagnitude = 1 << 10
