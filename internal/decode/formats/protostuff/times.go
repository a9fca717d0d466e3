package protostuff

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// inParts reports whether parts reads a class. Those that are inside others only with the class path.
func (r *Reader) inParts(class string) bool {
	switch class {
	case "java.time.LocalDate", "java.time.LocalTime", "java.time.LocalDateTime", "java.time.Instant":
		return true
	case "java.time.OffsetTime", "java.time.OffsetDateTime", "java.time.ZonedDateTime":
		return r.library != nil
	}
	return false
}

// parts takes the private fields of a class of java.time and returns what makes their text.
func (r *Reader) parts(class string) func() string {
	switch class {
	case "java.time.LocalDate":
		return r.date()
	case "java.time.LocalTime":
		return r.clock()
	case "java.time.LocalDateTime":
		date, clock := r.inner(1, "java.time.LocalDate"), r.inner(2, "java.time.LocalTime")
		return func() string { return date() + "T" + clock() }
	case "java.time.OffsetTime":
		return join(r.inner(1, "java.time.LocalTime"), r.inner(2, zoneOffset))
	case "java.time.OffsetDateTime":
		return join(r.inner(1, "java.time.LocalDateTime"), r.inner(2, zoneOffset))
	case "java.time.ZonedDateTime":
		local, offset := r.inner(1, "java.time.LocalDateTime"), r.inner(2, zoneOffset)
		return join(join(local, offset), r.inner(3, zoneID))
	case zoneOffset:
		offset := jdk.Offset(int32(r.field(1)))
		r.seconds = int32(offset)
		return offset.String
	case zoneRegion:
		r.expect(tagOf(1, delimited))
		id := r.delimited("a zone")
		return func() string { return jdk.Zone(decode.UTF8(id)) }
	default: // java.time.Instant
		seconds, nanos := int64(r.field(1)), int64(r.field(2))
		return func() string { return jdk.Instant(time.Unix(seconds, nanos%1e9)) }
	}
}

const (
	zoneOffset = "java.time.ZoneOffset"
	zoneRegion = "java.time.ZoneRegion"
	zoneID     = "java.time.ZoneId" // one of the two, with the name of its class
)

// isTimePart reports whether inner may find objects of a class by their numbers.
func (r *Reader) isTimePart(class string) bool {
	return class == zoneOffset || class == zoneRegion || r.inParts(class)
}

func join(a, b func() string) func() string { return func() string { return a() + b() } }

// inner takes a nested message, or a reference to one, as parts does. A reference means bytes that were read before.
func (r *Reader) inner(field uint64, class string) func() string {
	f, w := r.tag()
	if f != field {
		r.Fail(decode.Unsupported, fmt.Sprintf("field %d", field), fmt.Sprintf("field %d", f))
	}
	if w == reference && r.library != nil {
		return r.earlier(class)
	}
	m := r.start(f, w)
	k := len(r.seen) - 1
	text := noText
	if class == zoneID {
		r.expect(tagOf(idPojo, delimited))
		switch class = string(r.delimited("a class name")); class {
		case zoneOffset: // that of the date and time
			r.parts(class)
		case zoneRegion:
			text = r.parts(class)
		default:
			r.Fail(decode.Unsupported, "a zone", "an object of class "+class)
		}
	} else {
		text = r.parts(class)
	}
	r.finish(m)
	if w == startGroup && !r.again && r.OK() {
		r.seen[k].node, r.seen[k].class = noNode, class
	}
	return text
}

func noText() string { return "" }

// earlier takes the number of an object and returns what makes the text of that, whose bytes are read again.
func (r *Reader) earlier(class string) func() string {
	k := r.objectNumber()
	if !r.OK() {
		return noText
	}
	is := r.seen[k].class
	switch {
	case class == zoneID && is == zoneOffset:
		return noText
	case is != class && (class != zoneID || is != zoneRegion):
		r.Fail(decode.Unsupported, "the number of an object of class "+class, fmt.Sprint(k))
		return noText
	}
	return r.reread(k)
}

// reread returns what makes the text of an object whose class parts reads.
func (r *Reader) reread(k int) func() string {
	at, again := r.Off, r.again
	r.Off, r.again = int(r.seen[k].at), true
	if bytes.HasPrefix(r.Buf[r.Off:], []byte{0xfa, 0x07}) { // the tag of the name of a class: see idPojo
		r.tag()
		r.delimited("a class name")
	}
	text := r.parts(r.seen[k].class)
	if r.OK() {
		r.Off = at
	}
	r.again = again
	return text
}

// sameZone records a reference to a zone that is inside a date.
func (r *Reader) sameZone(p decode.Place, k int) {
	class := r.seen[k].class
	name, kind := "totalSeconds", decode.Int
	if class == zoneRegion {
		name, kind = "id", decode.String
	}
	text := r.reread(k)
	i := r.Open(decode.Object, p.Label, p.Name, p.Index)
	if n := r.Tree.Node(i); n != nil {
		n.Class = class
	}
	if n := r.Leaf(kind, decode.ByField, name, 0); n != nil && r.Values() {
		if n.Text = text(); kind == decode.Int {
			n.Num, n.Text = int64(r.seconds), ""
		} else {
			n.Text = strings.Trim(n.Text, "[]")
		}
	}
	r.Close()
}

func (r *Reader) date() func() string {
	d := jdk.Date{Year: int(int32(r.field(1))), Month: int(uint8(r.field(2))), Day: int(uint8(r.field(3)))}
	return d.String
}

func (r *Reader) clock() func() string {
	c := jdk.Clock{Hour: int(uint8(r.field(1))), Minute: int(uint8(r.field(2))), Second: int(uint8(r.field(3))), Nano: int(uint32(r.field(4)))}
	return c.String
}
