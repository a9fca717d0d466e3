package decode

import (
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// appendRedacted appends the type of node i and its number of bytes on the wire in place of its value, and of a text its
// length in UTF-16 units, as Java counts. Null and the constants of enums stay.
func (t *Tree) appendRedacted(dst []byte, i int) []byte {
	n := &t.Nodes[i]
	dst = append(dst, `{"@redacted":"`...)
	dst = append(dst, n.Kind.String()...)
	dst = append(dst, '"')
	if n.Kind == String {
		dst = append(dst, `,"length":`...)
		dst = strconv.AppendInt(dst, int64(TextLength(n.String())), 10)
	}
	bytes := int64(0)
	for k := i; k < int(n.End); k++ { // a date may be an object of several fields
		bytes += int64(t.Nodes[k].Len)
	}
	dst = append(dst, `,"bytes":`...)
	dst = strconv.AppendInt(dst, bytes, 10)
	return append(dst, '}')
}

// RedactedText is the redacted form of a text that is not in a tree.
func RedactedText(dst []byte, text string) []byte {
	dst = append(dst, `{"@redacted":"string","length":`...)
	dst = strconv.AppendInt(dst, int64(TextLength(text)), 10)
	return append(dst, '}')
}

// TextLength is the length of a text in UTF-16 units, which is what Java calls the length of a String.
func TextLength(text string) int {
	n := utf8.RuneCountInString(text)
	for _, r := range text {
		if utf16.RuneLen(r) == 2 {
			n++
		}
	}
	return n
}

// secret reports whether values of this kind are redacted. Containers are not; the values in them are.
func (k Kind) secret() bool {
	switch k {
	case Bool, Int, Float32, Float64, Char, String, Bytes, Date, Decimal, Custom:
		return true
	}
	return false
}

// String returns the name of a kind in reports.
func (k Kind) String() string { return kindNames[k] }

var kindNames = [...]string{
	Overhead: "overhead", Null: "null", Bool: "boolean", Int: "integer", Float32: "float", Float64: "double", Char: "char",
	String: "string", Bytes: "bytes", Date: "date", Decimal: "decimal", Enum: "enum", List: "list", Map: "map", Object: "object",
	Ref: "reference", Alias: "alias", Opaque: "opaque", Custom: "custom", Missing: "missing",
}

// printedAt returns the path of the place where node i is printed: that of Path without the fields that stand for their objects. It is borrowed
// until the next call.
func (t *Tree) printedAt(i int) []byte {
	return t.pathOf(slices.DeleteFunc(t.lineage(i), t.isAliased))
}

// IsNamed reports whether node i is the key or the value of an entry whose key is a name.
func (t *Tree) IsNamed(i int) bool {
	key := int32(i)
	if t.Nodes[i].Label == ByEntry {
		up := t.Nodes[i].Parent
		for key--; key > up && t.Nodes[key].Parent != up; {
			key = t.Nodes[key].Parent
		}
	}
	return key >= 0 && t.named(int(key))
}
