package jsonlines

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
)

// The walk follows RFC 8259, section 2 to 7. It reads up to r.end and gives up by setting bad.

// value reads one value with the white space before it.
func (r *Reader) value(l decode.Label, name string, index int) {
	r.space()
	r.Role("punct")
	if r.bad || !r.OK() || r.Off >= r.end {
		r.bad = true
		return
	}
	switch c := r.Buf[r.Off]; {
	case c == '{':
		r.object(l, name, index)
	case c == '[':
		r.array(l, name, index, 1)
	case c == '"':
		if token := r.string(); !r.bad {
			if n := r.Leaf(decode.String, l, name, index); n != nil && r.Values() {
				n.Text = Unquote(token)
			}
		}
	case r.dubbo && r.beyondNumbers(l, name, index):
	case c == '-' || c >= '0' && c <= '9':
		r.number(l, name, index)
	case r.word("null"):
		r.Leaf(decode.Null, l, name, index)
	case r.word("true"):
		if n := r.Leaf(decode.Bool, l, name, index); n != nil {
			n.Num = 1
		}
	case r.word("false"):
		r.Leaf(decode.Bool, l, name, index)
	default:
		r.beyondJSON(l, name, index)
	}
}

// object = "{" [ member *( "," member ) ] "}"; member = key ":" value. It is a map, except an exception and what names
// its class: first, or last in Dubbo's own JSON. Its keys are names, except where it can be nothing but a map.
func (r *Reader) object(l decode.Label, name string, index int) {
	if !r.Enter() {
		return
	}
	outer := r.outer
	r.outer = aValue
	kind, label, entry := decode.Map, decode.ByMember, decode.ByEntry
	switch outer {
	case theAttachments:
		if r.proto {
			r.holder(l, name, index)
			r.Leave()
			return
		}
		label = decode.ByKey
	case aMap:
		label = decode.ByKey
	case theException:
		kind, entry = decode.Object, decode.ByField
	}
	node := r.Open(kind, l, name, index)
	r.Off++
	k := 0 // members other than the class
	key, last := "", -1
	value := 0 // where the last one starts
	for first := true; !r.next('}', first); first = false {
		if r.bad || !r.OK() {
			return
		}
		if first && !r.dubbo {
			if class, ok := r.ownClass(); ok {
				if isMap(class) {
					kind, label, entry = decode.Map, decode.ByKey, decode.ByEntry
				} else {
					kind, entry = decode.Object, decode.ByField
				}
				if n := r.Tree.Node(node); n != nil {
					n.Kind, n.Class = kind, class
				}
				continue
			}
		}
		if r.Tree != nil {
			last = len(r.Tree.Nodes)
		}
		start := r.Off
		key = r.key(k, kind, label)
		if r.dubbo && r.Off > start && r.Buf[start] != '"' {
			r.NeedTree()
		}
		r.space()
		if r.bad || !r.at(':') {
			r.bad = true
			return
		}
		r.Off++
		if outer == theException && (key == "clazz" || r.proto && key == "originalClassName") { // clazz: gson's, around the exception
			r.nameClass(node)
		}
		value = r.Off
		r.value(entry, key, k)
		k++
	}
	if r.dubbo && outer != theAttachments && outer != aMap && key == "class" {
		r.lastClass(node, last)
		r.countLastClass(value)
	}
	r.Close()
	r.Leave()
}

// typeMember is how fastjson names the class of an object, in its first member.
const typeMember = `"@type":`

// ownClass takes that member where it is next.
func (r *Reader) ownClass() (class string, ok bool) {
	if !bytes.HasPrefix(r.Buf[r.Off:r.end], []byte(typeMember+`"`)) {
		return "", false
	}
	r.Role("punct")
	r.Off += len(typeMember)
	token := r.string()
	if r.bad {
		return "", false
	}
	r.Role("class")
	return r.Name(token), true
}

// nameClass names the node after the string that follows.
func (r *Reader) nameClass(node int) {
	text := r.Buf[r.Off:r.end]
	if n, k := r.Tree.Node(node), stringLen(text); n != nil && k > 0 {
		n.Class = r.Name(text[1 : k-1])
	}
}

// isMapType reports whether the descriptor is that of a map of the JDK.
func isMapType(desc string) bool {
	return strings.HasPrefix(desc, "Ljava/util/") && isMap(decode.JavaName(desc))
}

// isMap reports whether the class is a map of the JDK.
func isMap(class string) bool {
	return strings.HasPrefix(class, "java.util.") &&
		(strings.HasSuffix(class, "Map") || class == "java.util.Hashtable" || class == "java.util.Properties" ||
			strings.HasPrefix(class, "java.util.ImmutableCollections$Map"))
}

// array = "[" [ value *( "," value ) ] "]"; head is the length of the opening.
func (r *Reader) array(l decode.Label, name string, index, head int) {
	if !r.Enter() {
		return
	}
	r.Open(decode.List, l, name, index)
	r.Off += head
	for i := 0; !r.next(']', i == 0); i++ {
		if r.bad || !r.OK() {
			return
		}
		r.value(decode.ByIndex, "", i)
	}
	r.Close()
	r.Leave()
}

// next moves to the next member: behind the comma unless it is the first. It takes the closing bracket and returns
// true at the end.
func (r *Reader) next(closing byte, first bool) (end bool) {
	if r.bad || !r.OK() {
		return false
	}
	r.space()
	switch {
	case r.at(closing):
		r.Off++
		r.Role("punct")
		return r.OK()
	case first:
	case r.at(','):
		r.Off++
		r.space()
	default:
		r.bad = true
	}
	return false
}

// key reads the key of member i of an object that is recorded as kind; a key of a map has that label. fastjson writes
// keys that are no strings as they are.
func (r *Reader) key(i int, kind decode.Kind, l decode.Label) (name string) {
	r.Role("punct")
	if !r.at('"') && kind == decode.Map {
		r.value(decode.ByKey, "", i)
		return ""
	}
	token := r.string()
	if r.bad {
		return ""
	}
	if bytes.IndexByte(token, '\\') < 0 {
		name = r.Name(token)
	} else {
		name = Unquote(token)
	}
	if kind == decode.Object {
		r.Role("field")
	} else if n := r.Leaf(decode.String, l, name, i); n != nil {
		n.Text = name
	}
	return name
}

// string takes a string and returns what is between its quotes.
func (r *Reader) string() []byte {
	text := r.Buf[r.Off:r.end]
	n := stringLen(text)
	if n == 0 {
		r.bad = true
		return nil
	}
	r.Off += n
	return text[1 : n-1]
}

// stringLen returns the length of the string that starts text, 0 when it does not end in it.
func stringLen(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	for i := 1; ; {
		quote := bytes.IndexByte(text[i:], '"')
		if quote < 0 {
			return 0
		}
		slashes := i + quote
		for slashes > i && text[slashes-1] == '\\' {
			slashes--
		}
		i += quote + 1
		if (i-1-slashes)%2 == 0 {
			return i
		}
	}
}

// maxExact is how many digits a number may have to be a double: more were written for a decimal's sake.
const maxExact = 17

// number = [ "-" ] int [ frac ] [ exp ], and with fastjson the letter of its Java type.
func (r *Reader) number(l decode.Label, name string, index int) {
	start := r.Off
	if r.at('-') {
		r.Off++
	}
	digits := r.digits()
	integral := true
	if digits > 0 && r.at('.') {
		r.Off++
		integral = false
		switch frac := r.digits(); {
		case frac > 0:
			digits += frac
		case r.prefixed: // fastjson marks a BigDecimal that is whole
			if n := r.Leaf(decode.Decimal, l, name, index); n != nil && r.Values() {
				n.Text = string(r.Buf[start : r.Off-1])
			}
			return
		default:
			digits = 0
		}
	}
	if digits > 0 && (r.at('e') || r.at('E')) {
		r.Off++
		integral = false
		if r.at('+') || r.at('-') {
			r.Off++
		}
		if r.digits() == 0 {
			digits = 0
		}
	}
	if digits == 0 {
		r.bad = true
		return
	}
	token := r.Buf[start:r.Off]
	suffix := byte(0)
	if r.Off < r.end && bytes.IndexByte([]byte("BSLFD"), r.Buf[r.Off]) >= 0 {
		suffix = r.Buf[r.Off]
		r.Off++
	}
	integral = integral && suffix != 'F' && suffix != 'D' && string(token) != "-0"
	if integral && digits <= 19 {
		if v, err := strconv.ParseInt(string(token), 10, 64); err == nil {
			if n := r.Leaf(decode.Int, l, name, index); n != nil {
				n.Num = v
			}
			return
		}
	}
	if !integral && digits <= maxExact {
		bits, kind := 64, decode.Float64
		if suffix == 'F' {
			bits, kind = 32, decode.Float32
		}
		if f, err := strconv.ParseFloat(string(token), bits); err == nil && !math.IsInf(f, 0) {
			if n := r.Leaf(kind, l, name, index); n != nil {
				n.Float = f
			}
			return
		}
	}
	if n := r.Leaf(decode.Decimal, l, name, index); n != nil && r.Values() {
		n.Text = string(token)
	}
}

func (r *Reader) digits() int {
	start := r.Off
	for r.Off < r.end && r.Buf[r.Off] >= '0' && r.Buf[r.Off] <= '9' {
		r.Off++
	}
	return r.Off - start
}

// beyondJSON reads what fastjson writes where a class has no JSON form.
func (r *Reader) beyondJSON(l decode.Label, name string, index int) {
	switch {
	case r.word("Set["):
		r.Off -= len("Set[")
		r.array(l, name, index, len("Set["))
	case r.word("TreeSet["):
		r.Off -= len("TreeSet[")
		r.array(l, name, index, len("TreeSet["))
	case r.word("new Date("):
		start := r.Off
		if r.at('-') {
			r.Off++
		}
		r.digits()
		ms, err := strconv.ParseInt(string(r.Buf[start:r.Off]), 10, 64)
		if err != nil || !r.at(')') {
			r.bad = true
			return
		}
		r.Off++
		if n := r.Leaf(decode.Date, l, name, index); n != nil && r.Values() {
			layout := "2006-01-02T15:04:05.000Z"
			if ms%1000 == 0 {
				layout = "2006-01-02T15:04:05Z"
			}
			n.Text = time.UnixMilli(ms).UTC().Format(layout)
		}
	case r.word("x'"):
		n := bytes.IndexByte(r.Buf[r.Off:r.end], '\'')
		if n < 0 || n%2 != 0 {
			r.bad = true
			return
		}
		digits := r.Buf[r.Off : r.Off+n]
		r.Off += n + 1
		raw, err := hex.AppendDecode(nil, digits)
		if err != nil {
			r.bad = true
			return
		}
		if n := r.Leaf(decode.Bytes, l, name, index); n != nil && r.Values() {
			n.Raw = raw
		}
	default:
		r.bad = true
	}
}

func (r *Reader) space() {
	for r.Off < r.end {
		switch r.Buf[r.Off] {
		case ' ', '\t', '\r', '\n':
			r.Off++
		default:
			return
		}
	}
}

func (r *Reader) at(c byte) bool { return r.Off < r.end && r.Buf[r.Off] == c }

// word takes s where it stands next.
func (r *Reader) word(s string) bool {
	if r.end-r.Off < len(s) || string(r.Buf[r.Off:r.Off+len(s)]) != s {
		return false
	}
	r.Off += len(s)
	return true
}
