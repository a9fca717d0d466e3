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
			tree := decode.Tree{WithValues: true}
			r.Reset([]byte(row.body), row.short, &tree)
			r.(*Reader).Whole(decode.ByField, "result", 0)
			cause := decode.None
			if err := r.Err(); err != nil {
				cause = err.Cause
			}
			assert.Equal(t, row.cause, cause, "%q", row.body)
			formattest.Balance(t, &tree, r.Offset())
			assert.Equal(t, row.want, string(tree.AppendJSON(nil, 0)), "%q", row.body)
		}
	}
}
