package kryo

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// times reads the parts of java.time: ints and longs are varints, fixed are those of an offset.
type times struct{ *Reader }

func (r times) Int(what string) int32           { return int32(r.varint(what)) }
func (r times) Long(what string) int64          { return int64(r.Varint9(what)) }
func (r times) OffsetSeconds(what string) int32 { return int32(r.fixed(4, what)) }

// Zone reads a zone by its id, without its offset.
func (r times) Zone() string {
	x := r.text()
	if !r.Values() {
		return ""
	}
	return jdk.Zone(x.decode())
}

// amounts is times for classes that are neither dates nor times: their longs are fixed.
type amounts struct{ times }

func (r amounts) Long(what string) int64 { return int64(r.fixed(8, what)) }

// javaTime takes a class of java.time.
func (r *Reader) javaTime(cl *class, p decode.Place) {
	kind := jdk.KindOf(cl.name)
	if kind.IsTime() {
		t := kind.Read(times{r})
		r.Words(p, decode.Date, t.String)
		return
	}
	r.container(p, decode.Object, cl, func() {
		_, fields := kind.Amount()
		for _, f := range fields {
			r.Integer(r.At(decode.ByField, f.Name, 0), f.Read(amounts{times{r}}))
		}
	})
}
