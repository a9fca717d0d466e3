package fst

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// times reads the parts of java.time.
type times struct{ *Reader }

func (r times) Int(what string) int32           { return r.int32(what) }
func (r times) Long(what string) int64          { return r.int64(what) }
func (r times) OffsetSeconds(what string) int32 { return r.int32(what) }

// Zone reads the offset of a ZonedDateTime and its zone: the same offset, or a region.
func (r times) Zone() string {
	offset := jdk.ReadOffset(r)
	kind := jdk.Kind(r.Byte("a type of zone"))
	region := r.zone(kind)
	switch {
	case !r.Values():
		return ""
	case kind == jdk.ZoneRegion:
		return offset.String() + "[" + region() + "]"
	}
	return offset.String()
}

// zone takes a zone: a name, or an offset.
func (r *Reader) zone(kind jdk.Kind) func() string {
	switch kind {
	case jdk.ZoneRegion:
		return r.text().decode
	case jdk.ZoneOffset:
		return jdk.ReadOffset(times{r}).String
	}
	r.Fail(decode.Malformed, "a zone", decode.HexByte(byte(kind)))
	return func() string { return "" }
}

// javaTime takes what java.time.Ser writes: the kind of the class that it stands for, and the parts.
func (r *Reader) javaTime(cl *class, p decode.Place) {
	if r.d.one { // its readResolve makes FST 1 write it as if it was not Externalizable, and it has no fields then
		r.container(p, decode.Object, cl, func() {})
		return
	}
	kind := jdk.Kind(r.Byte("a type of java.time"))
	class, fields := kind.Amount()
	switch {
	case !r.OK():
		return
	case kind.IsTime():
		t := kind.Read(times{r})
		r.Words(p, decode.Date, t.String)
		return
	case kind == jdk.ZoneRegion:
		class = "java.time.ZoneRegion"
	case kind == jdk.ZoneOffset:
		class = "java.time.ZoneOffset"
	case class == "":
		r.failUnknown(cl, p)
		return
	}
	r.Begin(p, decode.Object, class)
	r.Role("type")
	if len(fields) == 0 {
		r.Words(r.At(decode.ByField, "value", 0), decode.String, r.zone(kind))
	}
	for _, f := range fields {
		r.Integer(r.At(decode.ByField, f.Name, 0), f.Read(times{r}))
	}
	r.Close()
}
