package thrift

import (
	"encoding/binary"
	"math"
)

// writer writes values as Thrift's libraries do. It is for messages that tests make up; captures of Java's prove the reader.
type writer struct {
	b       []byte
	compact bool
	last    []int16
}

func (w *writer) varint(u uint64) { w.b = binary.AppendUvarint(w.b, u) }
func (w *writer) zigzag(v int64)  { w.varint(uint64(v<<1) ^ uint64(v>>63)) }
func (w *writer) u32(v int)       { w.b = binary.BigEndian.AppendUint32(w.b, uint32(v)) }

// compactType is the type of TCompactProtocol for one of TBinaryProtocol.
func compactType(typ byte) byte {
	for i := 2; i < len(compactTypes); i++ {
		if compactTypes[i] == typ {
			return byte(i)
		}
	}
	return 0
}

// structOf writes the fields that f adds, and the end.
func (w *writer) structOf(f func()) {
	w.last = append(w.last, 0)
	f()
	w.last = w.last[:len(w.last)-1]
	w.b = append(w.b, tStop)
}

// field writes the header of a field.
func (w *writer) field(typ byte, id int16) {
	if !w.compact {
		w.b = binary.BigEndian.AppendUint16(append(w.b, typ), uint16(id))
		return
	}
	w.compactField(compactType(typ), id)
}

func (w *writer) compactField(typ byte, id int16) {
	last := &w.last[len(w.last)-1]
	if delta := id - *last; delta > 0 && delta < 16 {
		w.b = append(w.b, byte(delta)<<4|typ)
	} else {
		w.b = append(w.b, typ)
		w.zigzag(int64(id))
	}
	*last = id
}

func (w *writer) boolField(id int16, v bool) {
	switch {
	case w.compact && v:
		w.compactField(1, id)
	case w.compact:
		w.compactField(2, id)
	default:
		w.field(tBool, id)
		w.bool(v)
	}
}

func (w *writer) bool(v bool) {
	switch {
	case v:
		w.b = append(w.b, 1)
	case w.compact:
		w.b = append(w.b, 2)
	default:
		w.b = append(w.b, 0)
	}
}

func (w *writer) text(s string) {
	if w.compact {
		w.varint(uint64(len(s)))
	} else {
		w.u32(len(s))
	}
	w.b = append(w.b, s...)
}

func (w *writer) integer(typ byte, v int64) {
	switch {
	case typ == tByte:
		w.b = append(w.b, byte(v))
	case w.compact:
		w.zigzag(v)
	case typ == tI16:
		w.b = binary.BigEndian.AppendUint16(w.b, uint16(v))
	case typ == tI32:
		w.u32(int(v))
	default:
		w.b = binary.BigEndian.AppendUint64(w.b, uint64(v))
	}
}

func (w *writer) double(v float64) {
	if w.compact {
		w.b = binary.LittleEndian.AppendUint64(w.b, math.Float64bits(v))
	} else {
		w.b = binary.BigEndian.AppendUint64(w.b, math.Float64bits(v))
	}
}

func (w *writer) list(typ byte, n int) {
	switch {
	case !w.compact:
		w.b = append(w.b, typ)
		w.u32(n)
	case n < 15:
		w.b = append(w.b, byte(n)<<4|compactType(typ))
	default:
		w.b = append(w.b, 0xf0|compactType(typ))
		w.varint(uint64(n))
	}
}

func (w *writer) mapOf(key, value byte, n int) {
	switch {
	case !w.compact:
		w.b = append(w.b, key, value)
		w.u32(n)
	default:
		w.varint(uint64(n))
		if n > 0 {
			w.b = append(w.b, compactType(key)<<4|compactType(value))
		}
	}
}

// message writes a message whose struct has the fields that f adds.
func message(enc encoding, kind byte, name string, seq int32, f func(w *writer)) []byte {
	w := &writer{compact: enc == compact}
	switch enc {
	case strict:
		w.b = append(w.b, 0x80, 1, 0, kind)
		w.text(name)
		w.u32(int(seq))
	case loose:
		w.text(name)
		w.b = append(w.b, kind)
		w.u32(int(seq))
	case compact:
		w.b = append(w.b, 0x82, kind<<5|1)
		w.varint(uint64(uint32(seq)))
		w.text(name)
	}
	w.structOf(func() { f(w) })
	return w.b
}

// target is what Dubbo's header has. Responses have no path.
type target struct {
	service, path string
	id            int64
}

// surround puts what a style has before a message.
func surround(st style, t target, message []byte) []byte {
	var b []byte
	switch st {
	case framedStyle:
		b = binary.BigEndian.AppendUint32(b, uint32(len(message)))
	case dubboStyle:
		w := writer{b: []byte{0xda, 0xbc, 0, 0, 0, 0, 0, 0, 1}}
		w.text(t.service)
		if t.path != "" {
			w.text(t.path)
		}
		w.b = binary.BigEndian.AppendUint64(w.b, uint64(t.id))
		binary.BigEndian.PutUint16(w.b[6:], uint16(len(w.b)))
		binary.BigEndian.PutUint32(w.b[2:], uint32(len(w.b)+len(message)))
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(w.b)+len(message))), w.b...)
	}
	return append(b, message...)
}
