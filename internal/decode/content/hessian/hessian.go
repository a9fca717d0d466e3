// Package hessian reads the messages of Hessian over HTTP, Dubbo's protocol hessian: calls, replies and faults, whose values a reader of the
// serialization reads.
//
//	call 1   c major minor (H u16 name value)* m u16 method value* z     call 2   H 2 0 C method count value*
//	reply 1  r major minor (H u16 name value)* value z                   reply 2  H 2 0 R value
//	fault 1  r major minor (H u16 name value)* f (name value)* z z       fault 2  H 2 0 F map
//
// The numbers of version 1 say no more than which reply a client asks for: 2 for one of version 2. The method is in the body, and after it
// its types where the client tells overloads apart. The headers of version 1, which Dubbo does not use, become attachments.
//
// Source: com.caucho:hessian 4.0.51, HessianOutput, HessianInput, Hessian2Output, Hessian2Input, HessianInputFactory, HessianSkeleton,
// AbstractSkeleton; HessianProtocol of Dubbo 2.7.23.
package hessian

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
)

// Values reads the values of messages.
type Values interface {
	decode.Reader
	decode.VersionReader
	decode.IntReader
	decode.Summer

	// OpenMembers opens a map of members, field name of the message. In version 2 it takes its mark.
	OpenMembers(name string)
	// Member takes a string that names the value after it, number index of the open map, and returns it.
	Member(index int) string
	Name(b []byte) string
	Peek() (byte, bool)
	Skip(n int, what string)
	FailAt(at int, cause decode.Cause, expected, found string)
	Role(name string)
	Leaf(k decode.Kind, l decode.Label, name string, index int) *decode.Node
	Settle(depth int)
}

// Kind is what a message is.
type Kind uint8

const (
	Call Kind = iota
	Reply
	Fault
)

// Message is what the start of a message tells.
type Message struct {
	// Version is that of its values, 1 or 2.
	Version int
	Kind    Kind
	// Method is that of a call as it was sent, nil if it is empty or very long. It borrows the bytes of the message.
	Method []byte
	// Values is the offset of the first argument or of the result. In a call of version 2 their number precedes it.
	Values int
	// Null is set if the result of a reply is null.
	Null bool
	// Cut is set if the bytes end before they tell all of this. Then Kind may not be known.
	Cut bool
}

// maxMethod is the number of UTF-16 units of the name of a method; a text that is longer is none.
const maxMethod = 512

// versionLen is the number of bytes of the mark of a message and its two numbers.
const versionLen = 3

// Start returns what the start of a message tells, and whether b can be one. v skips the headers of version 1; it forgets the body that it
// has read.
func Start(b []byte, v Values) (m Message, ok bool) {
	if len(b) <= versionLen {
		m.Cut = true
		return m, len(b) == 0 || startsMessage(b)
	}
	if !startsMessage(b) {
		return m, false
	}
	m.Version, m.Values = 1, versionLen
	if b[0] == 'H' {
		m.Version = 2
		switch m.Values++; b[versionLen] {
		case 'C':
			return m, m.method2(b)
		case 'F':
			m.Kind = Fault
			return m, true
		case 'R':
			m.reply(b)
			return m, true
		}
		return m, false
	}
	for b[m.Values] == 'H' {
		if m.Values = afterHeader(b, m.Values, v); m.Values < 0 || m.Values >= len(b) {
			m.Cut = true
			return m, true
		}
	}
	if b[0] == 'c' {
		return m, m.method1(b)
	}
	if b[m.Values] == 'f' {
		m.Kind = Fault
		m.Values++
		return m, true
	}
	m.reply(b)
	return m, true
}

// startsMessage reports whether b begins with the mark of a message and numbers that its senders write, as far as there are bytes.
func startsMessage(b []byte) bool {
	switch b[0] {
	case 'c', 'r':
		return (len(b) < 2 || b[1] <= 2) && (len(b) < 3 || b[2] <= 1)
	case 'H':
		return (len(b) < 2 || b[1] == 2) && (len(b) < 3 || b[2] == 0)
	}
	return false
}

// reply sets what the first byte of a result tells.
func (m *Message) reply(b []byte) {
	m.Kind = Reply
	if m.Values >= len(b) {
		m.Cut = true
		return
	}
	m.Null = b[m.Values] == 'N'
}

// method1 reads m u16 method.
func (m *Message) method1(b []byte) bool {
	if b[m.Values] != 'm' {
		return false
	}
	from := m.Values + 3
	if from > len(b) {
		m.Cut = true
		return true
	}
	return m.method(b, from, int(binary.BigEndian.Uint16(b[m.Values+1:])))
}

// method2 reads a method, a string in one chunk, and the number of arguments.
func (m *Message) method2(b []byte) bool {
	at := m.Values
	if at >= len(b) {
		m.Cut = true
		return true
	}
	from, units := at+1, int(b[at])
	switch op := b[at]; {
	case op < 0x20:
	case op >= 0x30 && op <= 0x33:
		from++
		if from <= len(b) {
			units = int(op&3)<<8 + int(b[at+1])
		}
	case op == 'S':
		from += 2
		if from <= len(b) {
			units = int(binary.BigEndian.Uint16(b[at+1:]))
		}
	default:
		return false
	}
	if from > len(b) {
		m.Cut = true
		return true
	}
	return m.method(b, from, units)
}

// method sets the method, a text of so many UTF-16 units at offset from.
func (m *Message) method(b []byte, from, units int) bool {
	end := unitsEnd(b, from, units)
	switch {
	case end < 0:
		return false
	case end > len(b):
		m.Cut = true
		return true
	}
	if m.Values = end; units > 0 && units <= maxMethod {
		m.Method = b[from:end]
	}
	return true
}

// unitsEnd returns the offset after so many UTF-16 units, which may be beyond the end of b; -1 if their text is malformed.
func unitsEnd(b []byte, at, units int) int {
	for ; units > 0; units-- {
		if at >= len(b) {
			return len(b) + 1
		}
		switch c := b[at]; {
		case c < 0x80:
			at++
		case c&0xe0 == 0xc0:
			at += 2
		case c&0xf0 == 0xe0:
			at += 3
		default:
			return -1
		}
	}
	return at
}

// afterHeader returns the offset after the header of version 1 at offset at, -1 if its bytes do not tell.
func afterHeader(b []byte, at int, v Values) int {
	if v == nil || at+3 > len(b) {
		return -1
	}
	end := unitsEnd(b, at+3, int(binary.BigEndian.Uint16(b[at+1:])))
	if end < 0 || end >= len(b) {
		return -1
	}
	v.Reset(b, decode.Malformed, nil)
	v.SetVersion(1)
	v.Resume(end)
	v.Value(decode.ByEntry, "", 0, "")
	if v.Err() != nil {
		return -1
	}
	return v.Offset()
}

// Recognize reports whether b, the start of a body, is surely a message of Hessian: a call with the name of a method, or an answer.
func Recognize(b []byte, isCall bool) bool {
	m, ok := Start(b, nil)
	switch {
	case !ok || m.Cut || (m.Kind == Call) != isCall:
		return false
	case isCall:
		return m.Method != nil && decode.CanBeName(string(m.Method))
	case m.Version == 1: // the mark alone has no more than two bytes that tell
		return m.Kind == Fault && m.Values+6 <= len(b) && string(b[m.Values:m.Values+6]) == "S\x00\x04cod" || m.Kind == Reply && startsValue(b[m.Values])
	}
	return true
}

// startsValue reports whether a value of version 1 begins with c.
func startsValue(c byte) bool {
	switch c {
	case 'N', 'T', 'F', 'I', 'L', 'D', 'd', 's', 'S', 'x', 'X', 'b', 'B', 'V', 'M', 'R', 'r':
		return true
	}
	return false
}

// Read reads a whole message with v into t, which may be nil: then v counts its bytes. Arguments are the list "args", a result is "result",
// a fault is "exception" with the members that it has. short is the cause to report if the body ends early. It returns the offset after
// the message.
func Read(v Values, b []byte, short decode.Cause, t *decode.Tree) int {
	depth := t.Depth()
	v.Reset(b, short, t)
	r := reader{v: v, b: b}
	r.message()
	v.Settle(depth)
	return v.Offset()
}

// reader reads one message.
type reader struct {
	v Values
	b []byte
}

// ok reports whether nothing has failed.
func (r *reader) ok() bool { return r.v.Err() == nil }

// next reports whether c is the next byte.
func (r *reader) next(c byte) bool {
	got, ok := r.v.Peek()
	return ok && got == c
}

func (r *reader) message() {
	v := r.v
	mark, ok := v.Peek()
	if ok && !startsMessage(r.b[:min(versionLen, len(r.b))]) {
		v.FailAt(0, decode.Malformed, "a message of Hessian: c, r or H and its version", fmt.Sprintf("% x", r.b[:min(versionLen, len(r.b))]))
		return
	}
	if v.Skip(versionLen, "the version of a message"); !r.ok() {
		return
	}
	if mark == 'H' {
		r.message2()
		return
	}
	v.SetVersion(1)
	v.Role("version")
	r.headers()
	switch {
	case mark == 'c':
		r.call1()
	case r.next('f'):
		v.Skip(1, "the mark of a fault")
		v.Role("fault")
		r.members('z')
	default:
		v.Value(decode.ByField, "result", 0, "")
	}
	if r.ok() {
		r.end('z')
	}
}

// end takes the mark at the end of something.
func (r *reader) end(mark byte) {
	v := r.v
	if c, ok := v.Peek(); ok && c != mark {
		v.FailAt(v.Offset(), decode.Malformed, fmt.Sprintf("the end mark %02x", mark), fmt.Sprintf("%02x", c))
		return
	}
	v.Skip(1, "an end mark")
	v.Role("end")
}

// headers takes the headers of version 1.
func (r *reader) headers() {
	v := r.v
	if !r.next('H') {
		return
	}
	v.Open(decode.Map, decode.ByField, "attachments", 0)
	for i := 0; r.ok() && r.next('H'); i++ {
		v.Skip(1, "the mark of a header")
		v.Role("header")
		name := r.name(decode.ByKey, "", i)
		v.Value(decode.ByEntry, name, i, "")
	}
	v.Close()
}

// name takes a text after its length in two bytes.
func (r *reader) name(l decode.Label, name string, index int) string {
	v := r.v
	from := v.Offset()
	v.Skip(2, "the length of a name")
	if !r.ok() {
		return ""
	}
	end := unitsEnd(r.b, from+2, int(binary.BigEndian.Uint16(r.b[from:])))
	if end < 0 {
		v.FailAt(from, decode.Malformed, "a name in UTF-8 of 1 to 3 bytes a character", "other bytes")
		return ""
	}
	v.Skip(end-from-2, "a name")
	if !r.ok() {
		return ""
	}
	text := ""
	if b := r.b[from+2 : end]; utf8.Valid(b) {
		text = v.Name(b)
	} else {
		text = decode.UTF8(b)
	}
	if name == "" {
		name = text
	}
	v.Leaf(decode.String, l, name, index).SetText(text)
	return text
}

// call1 takes a call of version 1 after its headers, up to the end mark.
func (r *reader) call1() {
	v := r.v
	if c, ok := v.Peek(); ok && c != 'm' {
		v.FailAt(v.Offset(), decode.Malformed, "a method (6d)", fmt.Sprintf("%02x", c))
		return
	}
	v.Skip(1, "the mark of a method")
	v.Role("call")
	r.name(decode.ByField, "method", 0)
	v.Open(decode.List, decode.ByField, "args", 0)
	for i := 0; r.ok() && !r.next('z'); i++ {
		v.Value(decode.ByIndex, "", i, "")
	}
	v.Close()
}

// message2 takes a message of version 2 after its version.
func (r *reader) message2() {
	v := r.v
	mark, ok := v.Peek()
	v.Skip(1, "a call, a reply or a fault")
	if !ok {
		return
	}
	switch mark {
	case 'C':
		v.Role("call")
		v.Text("method")
		n := v.Int("argumentCount")
		if left := len(r.b) - v.Offset(); r.ok() && (n < 0 || int(n) > left) {
			v.FailAt(v.Offset(), decode.Malformed, fmt.Sprintf("at most %d arguments", left), fmt.Sprint(n))
		}
		v.Open(decode.List, decode.ByField, "args", 0)
		for i := 0; i < int(n) && r.ok(); i++ {
			v.Value(decode.ByIndex, "", i, "")
		}
		v.Close()
	case 'R':
		v.Role("reply")
		v.Value(decode.ByField, "result", 0, "")
	case 'F':
		v.Role("fault")
		r.fault2()
	default:
		v.FailAt(v.Offset()-1, decode.Malformed, "a call, a reply or a fault (43, 52, 46)", fmt.Sprintf("%02x", mark))
	}
}

// fault2 takes the map of a fault of version 2.
func (r *reader) fault2() {
	v := r.v
	if !r.next('H') {
		v.Value(decode.ByField, "exception", 0, "")
		return
	}
	r.members('Z')
}

// members takes the members of a fault up to the end mark. Their names are strings.
func (r *reader) members(end byte) {
	v := r.v
	v.OpenMembers("exception")
	for i := 0; r.ok() && !r.next(end); i++ {
		name := v.Member(i)
		v.Value(decode.ByEntry, name, i, "")
	}
	if r.ok() {
		r.end(end)
	}
	v.Close()
}
