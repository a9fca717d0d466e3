package fury

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// times reads the parts of java.time, which have fixed sizes.
type times struct{ *Reader }

func (r times) Int(what string) int32           { return int32(r.Little(4, what)) }
func (r times) Long(what string) int64          { return int64(r.Little(8, what)) }
func (r times) OffsetSeconds(what string) int32 { return r.Int(what) }

// Zone reads a zone by its id, without its offset.
func (r times) Zone() string {
	x := r.text()
	if !r.Values() {
		return ""
	}
	return jdk.Zone(x.decode())
}

// javaTime takes a class of java.time.
func (r *Reader) javaTime(cl *class, p decode.Place) {
	kind := jdk.KindOf(cl.name)
	if kind.IsTime() {
		t := kind.Read(times{r})
		r.Words(p, decode.Date, t.String)
		return
	}
	r.container(p, decode.Object, cl.name, func() {
		if kind == jdk.ZoneOffset {
			z := jdk.ReadOffset(times{r})
			r.Words(decode.Place{Label: decode.ByField, Name: "value"}, decode.String, z.String)
		}
		_, fields := kind.Amount()
		for _, f := range fields {
			r.Integer(decode.Place{Label: decode.ByField, Name: f.Name}, f.Read(times{r}))
		}
	})
}
