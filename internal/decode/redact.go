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

// Reference returns the path of node i as printed references have it. Where values are redacted, keys of maps are numbers.
func (t *Tree) Reference(i int) string {
	if !t.Redact {
		return t.Path(i)
	}
	return t.reference(t.lineage(i))
}

// printedAt returns the path of the place where node i is printed: that of Reference without the fields that stand for their objects.
func (t *Tree) printedAt(i int) string {
	chain := t.lineage(i)
	printed := slices.DeleteFunc(chain, t.isAliased)
	if len(printed) == len(chain) {
		return t.Reference(i)
	}
	return t.reference(printed)
}

// reference returns the path of the last of these nodes, each of which is within the one before it.
func (t *Tree) reference(chain []int32) string {
	var p pathWriter
	for _, k := range chain {
		if len(p.buf) >= maxPath {
			break
		}
		n := t.Nodes[k]
		if (n.Label == ByKey || n.Label == ByEntry) && t.Redact && !t.IsNamed(int(k)) {
			n.Name = ""
		} else {
			n.Name = t.FieldName(int(k))
		}
		p.segment(&n)
	}
	return string(p.buf)
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
