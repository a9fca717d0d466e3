package jsonlines

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			printed(t, r.(*Reader), body, short, &tree)
		}
	})
}

// printed checks that what a text prints without a tree is what its tree prints. It returns how often the text did without a tree: at most twice.
func printed(tb testing.TB, r *Reader, body []byte, short decode.Cause, tree *decode.Tree) (without int) {
	tb.Helper()
	for _, printing := range []decode.Printing{decode.PrintValues, decode.PrintParts} {
		to := decode.Printed{Printing: printing}
		r.Reset(body, short, nil)
		r.PrintWhole(&to)
		r.Whole(decode.ByField, "result", 0)
		if r.Err() != nil {
			continue
		}
		without++
		sum, ok := r.Sum()
		require.True(tb, ok)
		require.Equal(tb, tree.Bytes(), sum)
		if printing == decode.PrintValues {
			require.Equal(tb, string(tree.AppendJSON(nil, 0)), string(to.Values))
			continue
		}
		var parts []byte
		tree.EachPart(0, func(path []byte, _ decode.Class, _, bytes int) {
			parts = decode.AppendPart(append(parts, ','), path, bytes)
		})
		require.Equal(tb, string(parts), string(to.Parts))
	}
	return without
}

// TestPrinted: nearly all objects and lists print without a tree.
func TestPrinted(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, c := range []struct {
		body string
		want int // how often they do
	}{
		{bean, 2},
		{`{}`, 2},
		{`[]`, 2},
		{"{\n \"a\" : [ 1 ,\t{ } , [ ] ]\r\n}", 2},
		{`[1,-1,0,-0,00,007,-07,1.0,-0.0,1.5e3,1E2,1e400,0.30000000000000004,1.7976931348623157e308,100000000000000000000,9223372036854775807,9223372036854775808,-9223372036854775808,123456789012345678]`, 2},
		{`["a\"b\\c\n\u0041\ud83d\ude00\/","\ud83d","张三","` + "\xff\xfe" + `","` + "\x01" + `",""]`, 2},
		{`{"":1,"a b":2,"a.b":[{"c":3}],"张":{"d":4},"opaque":5,"missing":6,"x\"y":7,"x\u0041":8,"` + strings.Repeat("n", 200) + `":{"e":9},"$ref":"$"}`, 2},
		{`{"a":null,"b":true,"c":false,"a":[true,false,null]}`, 2},
		{`{"@a":1}`, 0},
		{`{"\u0040a":1}`, 0},
		{`{"\u0061":1}`, 1},             // which might be @ where values are printed
		{`{"#punct":1,"#field":{}}`, 2}, // the first is one part with the punctuation around it
		{`["@a"]`, 2},
		{`{"a":"@b"}`, 2},
		{deep(100), 2},
		{deep(101), 0},
		{`[[` + strings.Repeat(`{"`+strings.Repeat("n", 90)+`":`, 12) + "1" + strings.Repeat("}", 12) + `]]`, 1}, // a long path
		{`5`, 0},
		{`{"a":1} x`, 0},
	} {
		r := NewGson().(*Reader)
		tree, _ := formattest.ReadWhole(t, r, c.body, decode.Malformed, 0)
		assert.Equal(t, c.want, printed(t, r, []byte(c.body), decode.Malformed, tree), "%q", c.body)
	}
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
