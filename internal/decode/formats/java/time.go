package java

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// packed reads the parts of one java.time value, as java.time.Ser writes them; bad when they are not as expected.
type packed struct {
	b   []byte
	bad bool
}

func (p *packed) take(n int) []byte {
	if n > len(p.b) {
		p.bad = true
		return make([]byte, n)
	}
	b := p.b[:n]
	p.b = p.b[n:]
	return b
}

func (p *packed) Byte(string) byte                { return p.take(1)[0] }
func (p *packed) Int(string) int32                { return int32(be32(p.take(4))) }
func (p *packed) Long(string) int64               { return int64(binary.BigEndian.Uint64(p.take(8))) }
func (p *packed) OffsetSeconds(what string) int32 { return p.Int(what) }

// Zone reads the offset of a ZonedDateTime and its zone: the same offset, or a region.
func (p *packed) Zone() string {
	text := jdk.ReadOffset(p).String()
	switch jdk.Kind(p.Byte("")) {
	case jdk.ZoneRegion:
		text += jdk.Zone(jdk.UTF(p.take(int(be16(p.take(2))))))
	case jdk.ZoneOffset:
		jdk.ReadOffset(p)
	default:
		p.bad = true
	}
	return text
}

// timeOf fills n with the java.time value b if that is a date, a time or an instant. Other values stay objects.
func timeOf(n *decode.Node, b []byte, _ bool) bool {
	p := packed{b: b}
	k := jdk.Kind(p.Byte(""))
	if !k.IsTime() {
		return false
	}
	t := k.Read(&p)
	if p.bad || len(p.b) > 0 {
		return false
	}
	n.Kind, n.Text = decode.Date, t.Short()
	return true
}

// A ZoneOffset is a number of quarters of an hour, or 7f and a number of seconds.
var (
	quarters      = []jdk.Field{{Name: "totalSeconds", Code: 'B'}}
	offsetSeconds = []jdk.Field{{Name: "totalSeconds", Code: 'I'}}
)

// time takes a java.time value: a date or time in one piece, others with their fields.
func (r *Reader) time(i int) {
	rest := r.Buf[r.Off:]
	if len(rest) < 3 || rest[0] != tcBlockData || rest[1] == 0 || len(rest) < 2+int(rest[1]) {
		r.payload(i, timeOf)
		return
	}
	b := rest[2 : 2+rest[1]]
	kind, head := jdk.Kind(b[0]), 1
	class, fields := kind.Amount()
	switch {
	case class != "" && len(b) == 1+sizeOf(fields):
	case kind == jdk.ZoneOffset && len(b) == 2:
		class, fields = "java.time.ZoneOffset", quarters
	case kind == jdk.ZoneOffset && len(b) == 6 && b[1] == 0x7f:
		class, fields = "java.time.ZoneOffset", offsetSeconds
		head++
	case kind == jdk.ZoneRegion && len(b) >= 3 && len(b) == 3+int(be16(b[1:])):
		class = "java.time.ZoneRegion"
	default:
		r.payload(i, timeOf)
		return
	}
	if n := r.Tree.Node(i); n != nil {
		n.Class = class
	}
	r.Off += 2
	r.Role("block")
	r.Off += head
	r.Role("type")
	for _, f := range fields {
		r.primitive(f.Code, decode.ByField, f.Name, 0)
	}
	if kind == jdk.ZoneOffset && head == 1 && r.Tree != nil && r.OK() {
		r.Tree.Nodes[len(r.Tree.Nodes)-1].Num *= 15 * 60
	}
	if kind == jdk.ZoneRegion {
		r.Off += len(b) - 1
		if n := r.Leaf(decode.String, decode.ByField, "zoneId", 0); n != nil && r.Values() {
			n.Text = jdk.UTF(b[3:])
		}
	}
	r.custom()
}

func sizeOf(fields []jdk.Field) (n int) {
	for _, f := range fields {
		n += size(f.Code)
	}
	return n
}
