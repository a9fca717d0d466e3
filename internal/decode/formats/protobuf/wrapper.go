package protobuf

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
)

// wrapper is a message of google/protobuf/wrappers.proto: one field, number 1, omitted if it is 0 or empty.
type wrapper struct {
	kind decode.Kind
	wire protowire.Type
}

// wrappers maps names to wrappers. Empty has no field; as an attachment it stands for null.
var wrappers = map[string]wrapper{
	"BoolValue":   {decode.Bool, protowire.VarintType},
	"Int32Value":  {decode.Int, protowire.VarintType},
	"UInt32Value": {decode.Int, protowire.VarintType},
	"Int64Value":  {decode.Int, protowire.VarintType},
	"UInt64Value": {decode.Int, protowire.VarintType},
	"FloatValue":  {decode.Float32, protowire.Fixed32Type},
	"DoubleValue": {decode.Float64, protowire.Fixed64Type},
	"StringValue": {decode.String, protowire.BytesType},
	"BytesValue":  {decode.Bytes, protowire.BytesType},
	"Empty":       {decode.Null, -1},
}

// scalar is a value as it lies on the wire: the bits of a number, or bytes.
type scalar struct {
	kind decode.Kind
	num  uint64
	raw  []byte
}

// read reads all of b as this wrapper; ok is false if it is anything else.
func (w wrapper) read(b []byte) (v scalar, ok bool) {
	v.kind = w.kind
	if len(b) == 0 {
		return v, true
	}
	num, wire, n := protowire.ConsumeTag(b)
	if n < 0 || num != 1 || wire != w.wire {
		return v, false
	}
	b = b[n:]
	switch wire {
	case protowire.VarintType:
		v.num, n = protowire.ConsumeVarint(b)
	case protowire.Fixed32Type:
		var bits uint32
		bits, n = protowire.ConsumeFixed32(b)
		v.num = uint64(bits)
	case protowire.Fixed64Type:
		v.num, n = protowire.ConsumeFixed64(b)
	default:
		v.raw, n = protowire.ConsumeBytes(b)
	}
	return v, n == len(b)
}

// fill sets a node, which may be nil, to the value.
func (v scalar) fill(n *decode.Node, values bool) {
	if n == nil {
		return
	}
	switch v.kind {
	case decode.Bool:
		if v.num != 0 {
			n.Num = 1
		}
	case decode.Int:
		n.Num = int64(v.num)
	case decode.Float32:
		n.Float = float64(math.Float32frombits(uint32(v.num)))
	case decode.Float64:
		n.Float = math.Float64frombits(v.num)
	case decode.String:
		if values {
			n.Text = decode.UTF8(v.raw)
		}
	case decode.Bytes:
		if values {
			n.Raw = v.raw
		}
	}
}
