package form

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

func read(tb testing.TB, body string, short decode.Cause, nodes int) (*decode.Tree, *decode.Error) {
	tree := decode.Tree{WithValues: true, MaxNodes: nodes}
	var r Reader
	r.Reset([]byte(body), short, &tree)
	r.Whole(decode.ByField, "result", 0)
	if err := r.Err(); err != nil && err.At != r.Offset() || r.Offset() > len(body) || err == nil && r.Offset() != len(body) {
		tb.Fatalf("error %v at offset %d", err, r.Offset())
	}
	formattest.Balance(tb, &tree, r.Offset())
	return &tree, r.Err()
}

func TestWhole(t *testing.T) {
	for _, row := range []struct {
		body   string
		short  decode.Cause
		want   string
		cause  decode.Cause
		offset int
	}{
		{"name=J%C3%B6rg+M&age=5", decode.Malformed, `{"name":"Jörg M","age":"5"}`, decode.None, 0},
		{"a=1&a=2&b&c=&=d&&e=f=g&", decode.Malformed, `{"a":"1","a":"2","b":"","c":"","":"d","e":"f=g"}`, decode.None, 0},
		{"", decode.Malformed, `{}`, decode.None, 0},
		{"a%20b=%ff", decode.Malformed, `{"a b":"�"}`, decode.None, 0},
		{"a=1&b=x%4", decode.Malformed, `{"a":"1","b":{"@opaque":0}}`, decode.Malformed, 7},
		{"a=1&b%zz=2&c=3", decode.Malformed, `{"a":"1"}`, decode.Malformed, 5},
		{"a=1&b=2", decode.Cut, `{"a":"1","b":{"@opaque":0}}`, decode.Cut, 6}, // the value may go on
		{"a=1&b", decode.Lost, `{"a":"1"}`, decode.Lost, 4},
		{"a=1&", decode.Cut, `{"a":"1"}`, decode.Cut, 4},
	} {
		tree, err := read(t, row.body, row.short, 0)
		assert.Equal(t, row.want, string(tree.AppendJSON(nil, 0)), row.body)
		if row.cause == decode.None {
			assert.Nil(t, err, row.body)
		} else if assert.NotNil(t, err, row.body) {
			assert.Equal(t, row.cause, err.Cause, row.body)
			assert.Equal(t, row.offset, err.Offset(), row.body)
		}
	}
}

// FuzzWhole: whatever the body is, every byte that was taken has an owner.
func FuzzWhole(f *testing.F) {
	for _, body := range []string{"a=1&a=2&b&c=&=d&&e=f=g&", "name=J%C3%B6rg+M&age=5", "%", "a=%4", "&&", "=", "", "\xff=\x00"} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		read(t, body, decode.Malformed, 0)
		read(t, body, decode.Cut, 0)
		read(t, body, decode.Malformed, 4)
	})
}
