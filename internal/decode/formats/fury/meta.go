package fury

import (
	"strings"

	"dubbo-wire/internal/decode"
)

// Encodings of names in 0.10 (MetaString).
const (
	metaUTF8       = iota
	metaLower      // 5 bits for each character
	metaMixed      // 6 bits
	metaFirstUpper // as metaLower; the first one is in upper case
	metaAllLower   // as metaLower; those after | are in upper case
	smallMeta      = 16
)

// metaName takes a name of 0.10, or the number of an earlier one. flagged: the number with its length was taken before, and its lowest bit
// says that it is a name.
func (r *Reader) metaName(header uint64, flagged bool, dot byte) string {
	if !flagged {
		header = r.Varint9("the length of a name") << 1
	}
	n := int(min(header>>2, 1<<20))
	if header&2 != 0 {
		if n > 0 && n <= len(r.metas) && r.OK() {
			return r.metas[n-1].decode(dot)
		}
		r.Fail(decode.Malformed, "the number of a name", "another number")
		return ""
	}
	var m meta
	if n > smallMeta {
		m.encoding = byte(r.Little(8, "the hash of a name"))
	} else {
		m.encoding = r.Byte("the encoding of a name")
	}
	m.raw = r.Bytes(n, "a name")
	if m.encoding > metaAllLower && r.OK() {
		r.Fail(decode.Malformed, "the encoding of a name", decode.HexByte(m.encoding))
	}
	if !r.OK() {
		return ""
	}
	r.metas = append(r.metas, m)
	return m.decode(dot)
}

// meta is a name of 0.10.
type meta struct {
	raw      []byte // borrowed
	encoding byte
}

// decode returns the name. dot is one of the characters that depend on what is named.
func (m meta) decode(dot byte) string {
	switch m.encoding {
	case metaUTF8:
		return decode.UTF8(m.raw)
	case metaMixed:
		return unpack(m.raw, 6, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"+string(dot)+"_")
	}
	s := unpack(m.raw, 5, "abcdefghijklmnopqrstuvwxyz._$|")
	switch m.encoding {
	case metaFirstUpper:
		if s != "" {
			s = strings.ToUpper(s[:1]) + s[1:]
		}
	case metaAllLower:
		var b strings.Builder
		for i := 0; i < len(s); i++ {
			if s[i] == '|' && i+1 < len(s) {
				i++
				b.WriteString(strings.ToUpper(s[i : i+1]))
			} else {
				b.WriteByte(s[i])
			}
		}
		s = b.String()
	}
	return s
}

// unpack returns the characters of some bits each. The first bit says that the last character is not one.
func unpack(raw []byte, width int, chars string) string {
	if len(raw) == 0 {
		return ""
	}
	var b strings.Builder
	total, strip := 8*len(raw), raw[0]&0x80 != 0
	for at := 1; at+width <= total && !(strip && at+2*width > total); at += width {
		v := 0
		for i := range width {
			bit := at + i
			v = v<<1 | int(raw[bit/8]>>(7-bit%8)&1)
		}
		if v >= len(chars) {
			return ""
		}
		b.WriteByte(chars[v])
	}
	return b.String()
}

// className010 returns the JVM name of a class that 0.10 wrote as package and name: digits before the name tell arrays and enums.
func className010(pkg, simple string) string {
	dims := 0
	for dims < len(simple) && simple[dims] == '1' {
		dims++
	}
	simple = strings.TrimPrefix(simple[dims:], "2")
	if simple == "" {
		return ""
	}
	if pkg != "" {
		simple = pkg + "." + simple
	}
	if dims == 0 {
		return simple
	}
	return strings.Repeat("[", dims) + "L" + simple + ";"
}
