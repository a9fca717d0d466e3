package hessian2

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
)

// writer writes Hessian as hessian-lite does, for tests. Its methods return it, so that values can be strung together.
type writer struct {
	b       []byte
	classes []string
	types   []string
}

// hex appends the bytes that the hex digits stand for; spaces are for reading.
func (w *writer) hex(s string) *writer {
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		panic(err)
	}
	w.b = append(w.b, b...)
	return w
}

func (w *writer) null() *writer { return w.hex("4e") }

func (w *writer) int(n int) *writer {
	switch {
	case n >= -16 && n <= 47:
		w.b = append(w.b, byte(n+0x90))
	case n >= -2048 && n <= 2047:
		w.b = append(w.b, byte(n>>8+0xc8), byte(n))
	case n >= -262144 && n <= 262143:
		w.b = append(w.b, byte(n>>16+0xd4), byte(n>>8), byte(n))
	default:
		w.b = binary.BigEndian.AppendUint32(append(w.b, 'I'), uint32(n))
	}
	return w
}

func (w *writer) long(n int64) *writer {
	w.b = binary.BigEndian.AppendUint64(append(w.b, 'L'), uint64(n))
	return w
}

func (w *writer) double(f float64) *writer {
	w.b = binary.BigEndian.AppendUint64(append(w.b, 'D'), math.Float64bits(f))
	return w
}

// date appends milliseconds since 1970.
func (w *writer) date(ms int64) *writer {
	w.b = binary.BigEndian.AppendUint64(append(w.b, 0x4a), uint64(ms))
	return w
}

// str appends a string, each UTF-16 unit by itself, in chunks of 0x8000 units.
func (w *writer) str(s string) *writer {
	units := utf16.Encode([]rune(s))
	for len(units) > 0x8000 {
		n := 0x8000
		if units[n-1] >= 0xd800 && units[n-1] < 0xdc00 {
			n--
		}
		w.b = binary.BigEndian.AppendUint16(append(w.b, 'R'), uint16(n))
		w.units(units[:n])
		units = units[n:]
	}
	switch n := len(units); {
	case n <= 31:
		w.b = append(w.b, byte(n))
	case n <= 1023:
		w.b = append(w.b, byte(0x30+n>>8), byte(n))
	default:
		w.b = binary.BigEndian.AppendUint16(append(w.b, 'S'), uint16(n))
	}
	return w.units(units)
}

func (w *writer) units(units []uint16) *writer {
	for _, u := range units {
		switch {
		case u < 0x80:
			w.b = append(w.b, byte(u))
		case u < 0x800:
			w.b = append(w.b, 0xc0|byte(u>>6), 0x80|byte(u&0x3f))
		default:
			w.b = append(w.b, 0xe0|byte(u>>12), 0x80|byte(u>>6&0x3f), 0x80|byte(u&0x3f))
		}
	}
	return w
}

// typed starts a typed list of n elements.
func (w *writer) typed(class string, n int) *writer {
	if n <= 7 {
		w.b = append(w.b, 0x70+byte(n))
	} else {
		w.b = append(w.b, 'V')
	}
	if i := slices.Index(w.types, class); i >= 0 {
		w.int(i)
	} else {
		w.types = append(w.types, class)
		w.str(class)
	}
	if n > 7 {
		w.int(n)
	}
	return w
}

// list starts an untyped list of n elements.
func (w *writer) list(n int) *writer {
	if n <= 7 {
		w.b = append(w.b, 0x78+byte(n))
		return w
	}
	w.b = append(w.b, 'X')
	return w.int(n)
}

// m appends a map of strings.
func (w *writer) m(pairs ...string) *writer {
	w.b = append(w.b, 'H')
	for _, s := range pairs {
		w.str(s)
	}
	w.b = append(w.b, 'Z')
	return w
}

// object starts an object; its class is defined the first time.
func (w *writer) object(class string, fields ...string) *writer {
	index := slices.Index(w.classes, class)
	if index < 0 {
		index = len(w.classes)
		w.classes = append(w.classes, class)
		w.b = append(w.b, 'C')
		w.str(class).int(len(fields))
		for _, f := range fields {
			w.str(f)
		}
	}
	if index <= 15 {
		w.b = append(w.b, 0x60+byte(index))
		return w
	}
	w.b = append(w.b, 'O')
	return w.int(index)
}

func (w *writer) ref(n int) *writer {
	w.b = append(w.b, 'Q')
	return w.int(n)
}
