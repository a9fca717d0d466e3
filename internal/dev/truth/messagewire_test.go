package truth

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// The bytes that values of messages have on the wire: of what was logged, and of what we print.

func sameBytes(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("%x instead of %x", got, want)
}

// rawBytes returns what stood after a length, of a text or bytes.
func rawBytes(got any) ([]byte, bool) {
	if s, ok := got.(string); ok {
		return []byte(s), true
	}
	if o, ok := got.(map[string]any); ok && len(o) == 1 {
		if s, ok := o["@bytes"].(string); ok {
			b, err := base64.StdEncoding.DecodeString(s)
			return b, err == nil
		}
	}
	return nil, false
}

// fixed returns the four or eight bytes of a number that was printed as floating point or as an integer.
func fixed(got any, size int, floating bool) []byte {
	var bits uint64
	if o, ok := got.(map[string]any); ok {
		f, _ := strconv.ParseFloat(fmt.Sprint(o["@double"]), 64)
		bits = math.Float64bits(f)
		if size == 4 {
			bits = uint64(math.Float32bits(float32(f)))
		}
		if math.IsNaN(f) {
			bits = map[int]uint64{4: 0x7fc00000, 8: 0x7ff8000000000000}[size]
		}
	} else if n, ok := got.(json.Number); !ok {
		return nil
	} else if f, err := n.Float64(); floating {
		if err != nil {
			return nil
		}
		bits = math.Float64bits(f)
		if size == 4 {
			bits = uint64(math.Float32bits(float32(f)))
		}
	} else if i, err := n.Int64(); err == nil {
		bits = uint64(i)
	} else {
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:size]
}

// wire returns the bytes of a logged value after its tag, or after its length.
func wire(typ string, v any) []byte {
	var number json.Number
	switch v := v.(type) {
	case json.Number:
		number = v
	case map[string]any:
		if s, ok := v["@bytes"].(string); ok {
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				panic(err)
			}
			return b
		}
		if n, ok := v["number"].(json.Number); ok {
			number = n
			break
		}
		f, err := strconv.ParseFloat(fmt.Sprint(v["@double"]), 64)
		if err != nil {
			panic(err)
		}
		if typ == "float" {
			return protowire.AppendFixed32(nil, math.Float32bits(float32(f)))
		}
		if math.IsNaN(f) {
			return protowire.AppendFixed64(nil, 0x7ff8000000000000)
		}
		return protowire.AppendFixed64(nil, math.Float64bits(f))
	case bool:
		return protowire.AppendVarint(nil, protowire.EncodeBool(v))
	}
	switch f, _ := number.Float64(); typ {
	case "double":
		return protowire.AppendFixed64(nil, math.Float64bits(f))
	case "float":
		return protowire.AppendFixed32(nil, math.Float32bits(float32(f)))
	}
	i, ok := new(big.Int).SetString(string(number), 10)
	if !ok {
		panic(number)
	}
	bits := new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	switch typ {
	case "sint32", "sint64":
		return protowire.AppendVarint(nil, protowire.EncodeZigZag(int64(bits)))
	case "fixed32", "sfixed32":
		return protowire.AppendFixed32(nil, uint32(bits))
	case "fixed64", "sfixed64":
		return protowire.AppendFixed64(nil, bits)
	}
	return protowire.AppendVarint(nil, bits)
}
