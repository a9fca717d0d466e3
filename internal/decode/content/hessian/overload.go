package hessian

import (
	"bytes"
	"encoding/binary"
	"slices"

	"dubbo-wire/internal/decode"
)

// argumentKind is what an argument is on the wire, as far as the types of parameters can be compared with it.
type argumentKind uint8

const (
	otherArgument argumentKind = iota // an object, or a reference to one
	nullArgument
	boolArgument
	intArgument
	longArgument
	doubleArgument
	stringArgument
	dateArgument
	bytesArgument
	listArgument
)

// argument is an argument of a call whose method may have the types of its parameters in its name.
type argument struct {
	kind  argumentKind
	class []byte // of an object, if it is there
}

// maxMangled is the number of arguments up to which the name of a method is taken apart.
const maxMangled = 32

// Overload takes the types of parameters from the name of the method of a call, b, which a client has added there to tell overloads apart:
// "find_string_int", or "find__2", the number of parameters. It returns the method's own name and the types, nil if there is only their
// number, in memory if they fit; ok is false if the arguments are not of such types or of that number, so that the name may be the method's own.
//
// Types are written without their package; all numbers of up to 32 bits are "int", both kinds of floating point "double", a char is a
// "string".
func Overload(m *Message, b []byte, v Values, memory [][]byte) (name []byte, types [][]byte, ok bool) {
	if bytes.IndexByte(m.Method, '_') <= 0 {
		return nil, nil, false
	}
	var all [maxMangled]argument
	n := arguments(m, b, v, &all)
	if n <= 0 {
		return nil, nil, false
	}
	if at := bytes.LastIndex(m.Method, []byte("__")); at > 0 && isNumber(m.Method[at+2:], n) {
		return m.Method[:at], nil, true
	}
	name = m.Method
	types = slices.Grow(memory[:0], n)[:n]
	for i := n - 1; i >= 0; i-- {
		at := typeAt(name, &all[i])
		if at <= 0 || !all[i].fits(name[at+1:]) {
			return nil, nil, false
		}
		types[i], name = name[at+1:], name[:at]
	}
	// A last word with a capital may as well belong to the name of a class with an underscore.
	if rest := name[bytes.LastIndexByte(name, '_')+1:]; len(rest) == 0 || len(rest) < len(name) && isCapital(rest[0]) {
		return nil, nil, false
	}
	return name, types, true
}

func isNumber(b []byte, n int) bool {
	v := 0
	for _, c := range b {
		if c < '0' || c > '9' || v > maxMangled {
			return false
		}
		v = 10*v + int(c-'0')
	}
	return len(b) > 0 && v == n
}

func isCapital(c byte) bool { return c >= 'A' && c <= 'Z' }

// typeAt returns the offset of the underscore before the type that name ends with. A class with underscores in its name is known if the
// argument is of it.
func typeAt(name []byte, a *argument) int {
	if simple := a.class[bytes.LastIndexByte(a.class, '.')+1:]; len(simple) > 0 && bytes.HasSuffix(name, simple) {
		if at := len(name) - len(simple) - 1; at > 0 && name[at] == '_' {
			return at
		}
	}
	return bytes.LastIndexByte(name, '_')
}

// fits reports whether an argument can be that of a parameter of a type, as it is written in the name of a method.
func (a *argument) fits(typ []byte) bool {
	if len(typ) == 0 {
		return false
	}
	want := otherArgument
	switch string(typ) {
	case "boolean":
		want = boolArgument
	case "int":
		want = intArgument
	case "long":
		want = longArgument
	case "double":
		want = doubleArgument
	case "string":
		want = stringArgument
	case "date":
		want = dateArgument
	case "binary":
		want = bytesArgument
	default:
		if typ[0] == '[' {
			want = listArgument
			break
		}
		if !isCapital(typ[0]) {
			return false // by convention no class
		}
		switch a.kind {
		case otherArgument, nullArgument, listArgument:
			return true
		}
		switch string(typ) { // what also is a string, a number or a boolean
		case "Object", "Serializable", "Comparable", "CharSequence", "Number":
			return true
		}
		return false
	}
	return a.kind == want || a.kind == nullArgument || a.kind == otherArgument && want == listArgument // a reference
}

// arguments sets the arguments of a call whose bytes are whole, and returns their number, -1 if there are too many or they cannot be read.
func arguments(m *Message, b []byte, v Values, all *[maxMangled]argument) int {
	v.Reset(b, decode.Malformed, nil)
	v.SetVersion(m.Version)
	v.Resume(m.Values)
	n := maxMangled + 1
	if m.Version == 2 {
		if n = int(v.Int("")); n > maxMangled {
			return -1
		}
	}
	for i := range n {
		c, ok := v.Peek()
		switch {
		case m.Version == 1 && c == 'z':
			return i
		case i == maxMangled, !ok:
			return -1
		case m.Version == 1:
			all[i] = argument1(b[v.Offset():])
		default:
			all[i] = argument2(b[v.Offset():])
		}
		if v.Value(decode.ByIndex, "", i, ""); v.Err() != nil {
			return -1
		}
	}
	return n
}

// argument1 returns what the value of version 1 at the start of b is.
func argument1(b []byte) (a argument) {
	switch b[0] {
	case 'N':
		a.kind = nullArgument
	case 'T', 'F':
		a.kind = boolArgument
	case 'I':
		a.kind = intArgument
	case 'L':
		a.kind = longArgument
	case 'D':
		a.kind = doubleArgument
	case 's', 'S':
		a.kind = stringArgument
	case 'd':
		a.kind = dateArgument
	case 'b', 'B':
		a.kind = bytesArgument
	case 'V':
		a.kind = listArgument
	case 'M':
		if len(b) >= 4 && b[1] == 't' {
			a.class = text(b, 4, int(binary.BigEndian.Uint16(b[2:])))
		}
	}
	return a
}

// argument2 returns what the value of version 2 at the start of b is.
func argument2(b []byte) (a argument) {
	switch op := b[0]; {
	case op == 'N':
		a.kind = nullArgument
	case op == 'T', op == 'F':
		a.kind = boolArgument
	case op == 'I', op >= 0x80 && op <= 0xd7:
		a.kind = intArgument
	case op == 'L', op == 'Y', op >= 0xd8, op >= 0x38 && op <= 0x3f:
		a.kind = longArgument
	case op == 'D', op >= 0x5b && op <= 0x5f:
		a.kind = doubleArgument
	case op < 0x20, op >= 0x30 && op <= 0x33, op == 'R', op == 'S':
		a.kind = stringArgument
	case op == 'J', op == 'K':
		a.kind = dateArgument
	case op >= 0x20 && op <= 0x2f, op >= 0x34 && op <= 0x37, op == 'A', op == 'B':
		a.kind = bytesArgument
	case op >= 0x55 && op <= 0x58, op >= 0x70 && op <= 0x7f:
		a.kind = listArgument
	case op == 'C' && len(b) >= 3 && b[1] < 0x20:
		a.class = text(b, 2, int(b[1]))
	case op == 'C' && len(b) >= 3 && b[1] >= 0x30 && b[1] <= 0x33:
		a.class = text(b, 3, int(b[1]&3)<<8+int(b[2]))
	}
	return a
}

// text returns the text of so many UTF-16 units at an offset of b, nil if b has less.
func text(b []byte, at, units int) []byte {
	end := unitsEnd(b, at, units)
	if end < 0 || end > len(b) {
		return nil
	}
	return b[at:end]
}
