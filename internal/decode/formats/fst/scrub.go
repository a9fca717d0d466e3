package fst

import (
	"encoding/binary"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// scrub replaces the value after its class: texts of one byte a character, or ff and two bytes; numbers of one byte, or of
// more after a byte that says how many.
func (d *dialect) scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	switch n.Kind {
	case decode.String:
		return d.scrubText(b, n, m) || wire.Shared(b, n, m)
	case decode.Date:
		return d.scrubDate(b, n, m) || wire.Shared(b, n, m)
	}
	return wire.Shared(b, n, m)
}

// scrubText replaces the characters at the end of b.
func (d *dialect) scrubText(b []byte, n *decode.Node, m decode.Mapper) bool {
	units := utf16.Encode([]rune(n.Text))
	size := 0
	for _, u := range units {
		if size++; u >= escape {
			size += 2
		}
	}
	if size == 0 || size > len(b) {
		return false
	}
	raw := b[len(b)-size:]
	if (text{raw: raw, wide: true, order: d.order()}).decode() != n.Text {
		return false
	}
	runes := m.Runes()
	for i := 0; i < len(raw); i++ {
		u := rune(raw[i])
		if u == escape {
			if i+2 >= len(raw) {
				return false
			}
			u = rune(d.order().Uint16(raw[i+1:]))
			i += 2
		}
		if k := len(runes) - 1; k >= 0 {
			if pair := utf16.DecodeRune(runes[k], u); pair != utf8.RuneError {
				runes[k] = pair
				continue
			}
		}
		runes = append(runes, u)
	}
	m.Text(runes)
	units = units[:0]
	for _, r := range runes {
		if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			units = append(units, uint16(high), uint16(low))
		} else {
			units = append(units, uint16(r))
		}
	}
	at := 0
	for _, u := range units {
		if raw[at] != escape {
			raw[at] = byte(min(u, escape-1))
			at++
			continue
		}
		d.order().PutUint16(raw[at+1:], u)
		at += 3
	}
	return true
}

// scrubDate replaces the milliseconds of a date in any of its sections.
func (d *dialect) scrubDate(b []byte, n *decode.Node, m decode.Mapper) bool {
	t, err := time.Parse(time.RFC3339Nano, n.Text)
	if err != nil {
		return false
	}
	if d.one {
		return scrubLong(b, t, m)
	}
	for at := range b {
		size := 0
		switch b[at] {
		case wide16:
			size = 2
		case wide32:
			size = 4
		case wide64:
			size = 8
		}
		if size == 0 || at+1+size > len(b) {
			continue
		}
		v := uint64(0)
		for i := size; i > 0; i-- {
			v = v<<8 | uint64(b[at+i])
		}
		unused := 64 - 8*size
		if ms := int64(v<<unused) >> unused; ms == t.UnixMilli() || ms == t.Unix()*1000 {
			v = uint64(m.Int(ms))
			for i := range size {
				b[at+1+i] = byte(v >> (8 * i))
			}
			return true
		}
	}
	return false
}

// scrubLong replaces the milliseconds that FST 1 writes in eight bytes.
func scrubLong(b []byte, t time.Time, m decode.Mapper) bool {
	for at := 0; at+8 <= len(b); at++ {
		if ms := int64(binary.LittleEndian.Uint64(b[at:])); ms == t.UnixMilli() || ms == t.Unix()*1000 {
			binary.LittleEndian.PutUint64(b[at:], uint64(m.Int(ms)))
			return true
		}
	}
	return false
}
