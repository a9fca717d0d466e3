package hessian2

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// FuzzReader checks that walks of any bytes agree, whatever is recorded, that each byte taken has one owner, and that
// what is recorded can be printed.
func FuzzReader(f *testing.F) {
	for _, h := range hostile() {
		if len(h.Body) < 4096 {
			f.Add(h.Body)
		}
	}
	for _, body := range benchBodies() {
		f.Add(body[:min(len(body), 1024)])
	}
	for _, w := range []*writer{
		new(writer).list(2).localDateTime(liteTime).ref(1),
		new(writer).list(2).bigInteger("-12345678901234567890").ref(1),
		new(writer).list(4).object("E", "name").str("RED").ref(1).object("E", "name").str("x").ref(1),
		new(writer).str("a😀中é"),
	} {
		f.Add(w.b)
		f.Add(append([]byte{0x94}, w.b...))
	}
	for _, rows := range [][]formattest.Row{formattest.Values(f, valueRows), formattest.Frames(f, frameRows)} {
		for _, row := range rows {
			if len(row.Body) < 4096 {
				f.Add(row.Body)
			}
		}
	}
	for i, g := range generations(f) {
		if i%5 == 0 {
			f.Add(g.body[1:]) // after the result kind: as one value
			f.Add(g.body)
		}
	}
	f.Add(formattest.Hex("7b", calendarHex, "7a 78 51 92", calendarHex, "51 93"))
	r := New()
	f.Fuzz(func(t *testing.T, body []byte) {
		formattest.Check(t, Format, body)
		if len(body) > 1<<16 {
			return
		}
		var stop [3]int
		var cause [3]decode.Cause
		spans, values := decode.Tree{}, decode.Tree{WithValues: true}
		for i, tree := range []*decode.Tree{nil, &spans, &values} {
			r.Reset(body, decode.Malformed, tree)
			r.Value(decode.ByField, "v", 0, "")
			r.Value(decode.ByField, "w", 0, "") // the tables go on
			if r.Err() != nil {
				cause[i] = r.Err().Cause
				require.Equal(t, r.Offset(), r.Err().At)
			}
			stop[i] = r.Offset()
			if tree != nil {
				formattest.Balance(t, tree, r.Offset())
			}
		}
		require.Equal(t, [3]int{stop[0], stop[0], stop[0]}, stop)
		require.Equal(t, [3]decode.Cause{cause[0], cause[0], cause[0]}, cause)
		require.Equal(t, spans.Parts(nil, 0), values.Parts(nil, 0))
	})
}
