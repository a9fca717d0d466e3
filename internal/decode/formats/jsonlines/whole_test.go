package jsonlines

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// TestWhole: a JSON text over several lines, which is plain JSON whatever the reader is for.
func TestWhole(t *testing.T) {
	for _, row := range []struct {
		body  string
		short decode.Cause
		want  string
		cause decode.Cause
	}{
		{"{\n \"a\": [1,\n 2]\n}\n", decode.Malformed, `{"a":[1,2]}`, decode.None},
		{`{"a":1,"class":"org.acme.User"}`, decode.Malformed, `{"a":1,"class":"org.acme.User"}`, decode.None},
		{`5`, decode.Malformed, `5`, decode.None},
		{`{"a":1} x`, decode.Malformed, `{"@opaque":9}`, decode.None},
		{`NaN`, decode.Malformed, `{"@opaque":3}`, decode.None},
		{`{"a":1,`, decode.Cut, `{"a":1}`, decode.Cut},
		{`{"a":1`, decode.Cut, `{"a":{"@opaque":0}}`, decode.Cut}, // the number may go on
		{`{"a":1}`, decode.Lost, `{"a":1}`, decode.Lost},
	} {
		for _, r := range []decode.Reader{NewDubbo(), NewGson(), NewFastjson()} {
			tree, err := formattest.ReadWhole(t, r.(*Reader), row.body, row.short, 0)
			assert.Equal(t, row.cause, formattest.Cause(err), "%q", row.body)
			assert.Equal(t, row.want, string(tree.AppendJSON(nil, 0)), "%q", row.body)
		}
	}
}

// FuzzWhole: whatever the text is, it ends, and every byte that was taken has an owner.
func FuzzWhole(f *testing.F) {
	for _, body := range []string{
		bean, "{\n \"a\": [1,\n 2]\n}\n", `5`, `"\u00e9\ud83d\ude00"`, `{"a":1} x`, `NaN`, `{"a":1,`, `[[[[`, `{"$ref":"$.a"}`, `-1.5e+300`, "", "\xff", `{"a":{"b":[true,false,null]},"a":2}`,
	} {
		f.Add([]byte(body), false)
		f.Add([]byte(body), true)
	}
	readers := []decode.Reader{NewDubbo(), NewGson(), NewFastjson()}
	f.Fuzz(func(t *testing.T, body []byte, cut bool) {
		short := decode.Malformed
		if cut {
			short = decode.Cut
		}
		for _, r := range readers {
			tree := decode.Tree{WithValues: true}
			r.Reset(body, short, &tree)
			r.(*Reader).Whole(decode.ByField, "result", 0)
			if r.Offset() > len(body) {
				t.Fatalf("took %d of %d bytes", r.Offset(), len(body))
			}
			formattest.Balance(t, &tree, r.Offset())
		}
	})
}

func BenchmarkWhole(b *testing.B) {
	body := []byte(bean)
	for name, values := range map[string]bool{"values": true, "parts": false} {
		b.Run(name, func(b *testing.B) {
			r := NewDubbo()
			tree := decode.Tree{WithValues: values}
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				tree.Reset()
				r.Reset(body, decode.Malformed, &tree)
				r.(*Reader).Whole(decode.ByField, "result", 0)
			}
		})
	}
}

const bean = `{"id":1,"name":"Doe www","sex":1,"birthday":"1968-12-08","email":"doe@example.org","mobile":"18600000001","score":98.5,` +
	`"permissions":[1,2,3,4,5,6,7,8,9,19,88,86,89,90,91,92],"status":1,"createTime":"2019-09-01T12:00:00","tags":{"a":null,"b":true}}`
