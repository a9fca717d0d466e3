package protobuf

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// TestWhole: a message without a length, as gRPC has it; what was captured of one that was cut is read field by field.
func TestWhole(t *testing.T) {
	for _, row := range []struct {
		body  string
		short decode.Cause
		want  string
		cause decode.Cause
		taken int
	}{
		{"", decode.Malformed, `{}`, decode.None, 0},
		{"\x08\x05\x12\x03bob", decode.Malformed, `{"#1":5,"#2":"bob"}`, decode.None, 7},
		{"\x08\x05\x12\x03bo", decode.Malformed, `{"@opaque":6}`, decode.None, 6},
		{"\x08\x05\x12\x03bo", decode.Cut, `{"#1":5}`, decode.Cut, 2},
		{"\x08\x05\x12\x03bo", decode.Lost, `{"#1":5}`, decode.Lost, 2},
		{"\x08\x05", decode.Cut, `{"#1":5}`, decode.None, 2}, // what is missing is the caller's to say
		{"\x0b\x08\x05\x0c\x0b\x08", decode.Cut, `{"#1":{"#1":5}}`, decode.Cut, 4},
		{"\x0f", decode.Cut, `{}`, decode.Cut, 0},
	} {
		r := New().(*Reader)
		tree, err := formattest.ReadWhole(t, r, row.body, row.short, 0)
		assert.Equal(t, row.cause, formattest.Cause(err), "%q", row.body)
		assert.Equal(t, row.taken, r.Offset(), "%q", row.body)
		assert.Equal(t, row.want, string(tree.AppendJSON(nil, 0)), "%q", row.body)
	}
}
