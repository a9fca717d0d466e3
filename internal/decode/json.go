package decode

import (
	"math"
	"strconv"
)

// AppendJSON appends the value of node i in the form that `calls` prints: objects with "@class", enums with "@enum",
// bytes with "@bytes", and so on; see docs/values.md. What was not decoded is {"@opaque": bytes}.
//
// References can make a body print much larger than it is, and bodies can be nested deeper than JSON parsers accept. Beyond
// maxJSON bytes or maxLevels levels values are {"@cut":true}.
func (t *Tree) AppendJSON(dst []byte, i int) []byte {
	n := &t.Nodes[i]
	if len(dst) > maxJSON {
		return append(dst, `{"@cut":true}`...)
	}
	if t.Redact && n.Kind.secret() {
		return t.appendRedacted(dst, i)
	}
	switch n.Kind {
	case Null:
		return append(dst, "null"...)
	case Bool:
		return strconv.AppendBool(dst, n.Num != 0)
	case Int:
		if n.Text != "" {
			return append(dst, n.Text...)
		}
		return AppendInt(dst, n.Num)
	case Float32:
		return AppendFloat(dst, n.Float, 32)
	case Float64:
		if n.Text != "" {
			return append(dst, n.Text...)
		}
		return AppendFloat(dst, n.Float, 64)
	case Char, String:
		if n.Raw != nil {
			return AppendString(dst, n.Raw)
		}
		return AppendString(dst, n.Text)
	case Bytes, Custom:
		return AppendRaw(dst, n.Raw)
	case Date:
		dst = append(dst, `{"@date":`...)
		return append(AppendString(dst, n.Text), '}')
	case Decimal:
		dst = append(dst, `{"@decimal":`...)
		return append(AppendString(dst, n.Text), '}')
	case Enum:
		dst = append(dst, `{"@enum":`...)
		dst = AppendString(dst, n.Class)
		if n.Text == "" {
			dst = append(dst, `,"ordinal":`...)
			return append(strconv.AppendInt(dst, n.Num, 10), '}')
		}
		dst = append(dst, `,"name":`...)
		return append(AppendString(dst, n.Text), '}')
	case Ref:
		return t.appendReference(dst, i)
	case Alias:
		if int(n.Num) > i { // only forward: no cycle
			return t.AppendJSON(dst, int(n.Num))
		}
	case List, Map, Object:
		if t.levels >= maxLevels {
			return append(dst, `{"@cut":true}`...)
		}
		if t.isInlined(i) {
			return t.appendPath(dst, int32(i))
		}
		switch n.Kind {
		case List:
			t.levels++
			dst = t.appendList(dst, i)
			t.levels--
		case Object:
			t.levels++
			dst = t.appendObject(dst, i)
			t.levels--
		default:
			dst = t.appendMap(dst, i)
		}
		return dst
	}
	dst = append(dst, `{"@opaque":`...)
	return append(strconv.AppendInt(dst, int64(n.Len), 10), '}')
}

// maxJSON bounds the printed values of a message, in bytes.
const maxJSON = 64 << 20

// maxLevels limits the levels of brackets and braces of a printed value. Many JSON parsers accept a thousand.
const maxLevels = 480

// next returns the index of the first child of container i from child c on that is a value, not overhead, or the end of i. Fields of a list or a map
// are left out: JSON has no place for them.
func (t *Tree) next(i, c int) int {
	nodes := t.Nodes
	object, end := nodes[i].Kind == Object, int(nodes[i].End)
	for c < end {
		n := &nodes[c]
		if n.Kind != Overhead && (object || n.Label != ByField) {
			break
		}
		c = int(n.End)
	}
	return c
}

// end returns the index of the first node after node i and what is in it.
func (t *Tree) end(i int) int { return int(t.Nodes[i].End) }

func (t *Tree) appendList(dst []byte, i int) []byte {
	dst = append(dst, '[')
	sep := false
	for c, end := t.next(i, i+1), t.end(i); c < end; c = t.next(i, t.end(c)) {
		if sep {
			dst = append(dst, ',')
		}
		sep = true
		dst = t.AppendJSON(dst, c)
	}
	return append(dst, ']')
}

func (t *Tree) appendObject(dst []byte, i int) []byte {
	dst = append(dst, '{')
	sep := false
	if class := t.Nodes[i].Class; class != "" && !(t.Redact && !CanBeName(class)) {
		dst = append(dst, `"@class":`...)
		dst = AppendString(dst, class)
		sep = true
	}
	for c, end := t.next(i, i+1), t.end(i); c < end; c = t.next(i, t.end(c)) {
		if sep {
			dst = append(dst, ',')
		}
		sep = true
		name := t.FieldName(c)
		if t.Nodes[c].Label == Whole {
			name = "#" + name // what could not be decoded inside an object
		}
		dst = AppendString(dst, name)
		dst = append(dst, ':')
		dst = t.AppendJSON(dst, c)
	}
	return append(dst, '}')
}

// appendMap prints a JSON object where every key is a string that does not start with "@", else a list of pairs. The opaque
// rest of a map that could not be read to its end is the value of the last key, or a member next to the pairs.
func (t *Tree) appendMap(dst []byte, i int) []byte {
	object, rest := true, -1
	count := 0
	for c, end := t.next(i, i+1), t.end(i); c < end; c = t.next(i, t.end(c)) {
		n := &t.Nodes[c]
		if n.Label == Whole {
			rest = c
			continue
		}
		if count%2 == 0 && (n.Kind != String || n.beginsWithAt() || t.Redact && !t.named(c)) {
			object = false
		}
		count++
	}
	object = object && (rest < 0 || count%2 == 1)
	levels := 1
	if object {
		dst = append(dst, '{')
	} else {
		dst = append(dst, `{"@map":[`...)
		levels = 3
	}
	t.levels += levels
	defer func() { t.levels -= levels }()
	k := 0
	for c, end := t.next(i, i+1), t.end(i); c < end; c = t.next(i, t.end(c)) {
		switch {
		case t.Nodes[c].Label == Whole:
			continue
		case k%2 == 1 && object:
			dst = append(dst, ':')
		case k%2 == 1:
			dst = append(dst, ',')
		case k > 0:
			dst = append(dst, ',')
		}
		if k%2 == 0 && !object {
			dst = append(dst, '[')
		}
		if n := &t.Nodes[c]; k%2 == 0 && n.Kind == String && t.named(c) {
			dst = AppendString(dst, n.Text) // a name, which is not a secret
		} else {
			dst = t.AppendJSON(dst, c)
		}
		if k%2 == 1 && !object {
			dst = append(dst, ']')
		}
		k++
	}
	switch { // a map that was cut after a key
	case k%2 == 1 && object && rest >= 0:
		return append(t.AppendJSON(append(dst, ':'), rest), '}')
	case k%2 == 1 && rest >= 0:
		dst = append(t.AppendJSON(append(dst, ','), rest), ']')
	case rest >= 0:
		dst = append(dst, `],"#opaque":`...)
		return append(t.AppendJSON(dst, rest), '}')
	case k%2 == 1 && object:
		dst = append(dst, `:{"@opaque":0}`...)
	case k%2 == 1:
		dst = append(dst, `,{"@opaque":0}]`...)
	}
	if object {
		return append(dst, '}')
	}
	return append(dst, "]}"...)
}

// named reports whether key c of a map is a name rather than a value: the key of an attachment, or a key of a value that may
// be an object if a field can have that name.
func (t *Tree) named(c int) bool {
	n := &t.Nodes[c]
	if n.Parent < 0 {
		return true
	}
	if up := &t.Nodes[n.Parent]; up.Parent < 0 && up.Name == "attachments" {
		return true
	}
	return n.Label == ByMember && n.Kind == String && IsMemberName(n.String())
}

// IsMemberName reports whether a field can have that name: an ASCII identifier, which may have hyphens and begin with "@".
// Other keys are values: numbers, dates, addresses, sentences.
func IsMemberName[T string | []byte](key T) bool {
	for i := range len(key) {
		switch c := key[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '_', c == '$', c == '@' && i == 0, (c >= '0' && c <= '9' || c == '-') && i > 0:
		default:
			return false
		}
	}
	return len(key) > 0
}

// AppendFloat appends the shortest decimal that reads back as the same number. NaN and the infinities, for which JSON has no
// number, are objects with "@double".
func AppendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `{"@double":"NaN"}`...)
	case math.IsInf(f, 1):
		return append(dst, `{"@double":"Infinity"}`...)
	case math.IsInf(f, -1):
		return append(dst, `{"@double":"-Infinity"}`...)
	}
	if f == 0 && math.Signbit(f) {
		return append(dst, "-0.0"...) // many readers take -0 for an integer
	}
	if bits == 32 && math.IsInf(float64(float32(f)), 0) {
		bits = 64 // a double where a float was declared
	}
	if bits == 64 {
		if short, ok := appendHundredths(dst, f); ok {
			return short
		}
	}
	abs := math.Abs(f)
	format := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1<<53) { // a large number without a point or an exponent would be read as an integer
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, bits)
}

// appendHundredths appends a number that has at most two decimals and at most 15 digits, as prices do, and reports whether f is one: no other number
// with as few digits reads back as f, so these are the shortest.
func appendHundredths(dst []byte, f float64) ([]byte, bool) {
	const most = 1e15
	hundredths := math.RoundToEven(f * 100) // one instruction; the two ways of rounding differ only if f has more decimals
	if !(math.Abs(hundredths) < most) || hundredths/100 != f {
		return dst, false
	}
	n := int64(hundredths)
	if n < 0 {
		dst, n = append(dst, '-'), -n
	}
	dst = AppendInt(dst, n/100)
	switch n %= 100; {
	case n == 0:
		return dst, true
	case n%10 == 0:
		return append(dst, '.', byte('0'+n/10)), true
	}
	return append(dst, '.', byte('0'+n/10), byte('0'+n%10)), true
}
