package avro

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// call makes the body of a request: an envelope, and the bytes of arguments.
func call(method, desc string, args []byte) []byte {
	var b []byte
	for _, s := range []string{"2.0.2", "d.Hi", "0.0.0", method, desc} {
		b = append(binary.AppendVarint(b, int64(len(s))), s...)
	}
	return append(b, args...)
}

const (
	aString = "Ljava/lang/String;"
	anInt   = "Ljava/lang/Integer;"
	aList   = "Ljava/util/List;"
	aUser   = "LGen$User;"
)

// A null takes no bytes: what is printed is what all ways to divide the bytes have in common.
func TestNulls(t *testing.T) {
	for _, c := range []struct{ name, desc, hex, want string }{
		{
			"the only way to the end", "IJ" + aString + "DZBSCF" + aUser + aList + "Ljava/util/Map;",
			"01 03 000000000000f87f 00 0b 0d 00 000080ff",
			`[-1,-2,null,{"@double":"NaN"},false,-6,-7,"\u0000",{"@double":"-Infinity"},{"@opaque":0},null,{"@opaque":0}]`,
		},
		{"all null", aString + anInt + "[I" + aList, "", `[null,null,null,null]`},
		{"none null", aString + "I", "04 6162 0a", `["ab",5]`},
		{"the text is null, or the number would be none", aString + "I", "0a", `[null,5]`},
		{"the second is null", aString + "D", "000000000000f83f", `[null,1.5]`},
		{"either is null", aString + aString, "04 6162", `[{"@opaque":3},{"@opaque":0}]`},
		{"either is null, the rest is sure", "I" + aString + aString + "J" + "D", "02 04 6162 06 000000000000f83f", `[1,{"@opaque":3},{"@opaque":0},3,1.5]`},
		{"one of three is null", anInt + anInt + anInt + "F", "0204 0000c03f", `[{"@opaque":2},{"@opaque":0},{"@opaque":0},1.5]`},
		{"no room for a null", anInt + anInt + anInt + "Z", "020406 01", `[1,2,3,true]`},
		{"two nulls before a double", aString + "[J" + "D", "0000000000000000", `[null,null,0]`},
		{"a text or an empty array", aString + "[J" + "D", "000000000000000000", `[{"@opaque":1},{"@opaque":0},0]`},
		{"an array is no text", "[I" + aString, "04 0204 00", `[[1,2],null]`},
		{"a text that is no UTF-8 is none", aString + "[B", "04 80ff", `[null,{"@bytes":"gP8="}]`},
		{"a boolean is 0 or 1", "Ljava/lang/Boolean;" + "Ljava/lang/Byte;", "05", `[null,-3]`},
		{"a byte has 8 bits", "Ljava/lang/Byte;" + "Ljava/lang/Long;", "d804", `[null,300]`},
		{"a decimal number has digits", "Ljava/math/BigDecimal;" + aString, "04 6162", `[null,"ab"]`},
		{"a collection is null", aList + "I", "0a", `[null,5]`},
		{"a class behind a number", "I" + aUser, "0a 06626f62", `[5,{"@opaque":4}]`},
		{"a class may have all bytes", aString + aUser, "04 6162 0e06626f62", `[{"@opaque":8}]`},
		{"a class cannot save a text that is too long", aString + aUser, "7e 6162", `[null,{"@opaque":3}]`},
		{"no bytes are left for a class", aString + aUser + anInt, "", `[null,{"@opaque":0},null]`},
		{"dates have no bytes", "Ljava/util/Date;" + aString + "Ljava/util/Date;", "04 6162", `[{"@opaque":0},"ab",{"@opaque":0}]`},
	} {
		body := call("hi", c.desc, formattest.Hex(c.hex))
		m := formattest.Request(Format, body, decode.Malformed)
		rest := len(body) - m.Taken
		got := m.Value("args")
		if m.Err != nil {
			assert.Equal(t, "unsupported", m.Err.Cause.String(), c.name)
			got = strings.TrimSuffix(got, "]") + fmt.Sprintf(`,{"@opaque":%d}]`, rest)
			got = strings.Replace(got, "[,", "[", 1)
		} else {
			assert.Zero(t, rest, c.name)
		}
		assert.Equal(t, c.want, got, c.name)
		formattest.Balance(t, &m.Tree, m.Taken)
		formattest.Check(t, Format, body)
	}
}

// What several arguments share has a cause, and reading goes on after it.
func TestSharedBytes(t *testing.T) {
	body := call("hi", aString+aString+"I", formattest.Hex("04 6162 0a"))
	r := Format.New()
	r.Reset(body, decode.Malformed, nil)
	for _, name := range []string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"} {
		r.Text(name)
	}
	at := r.Offset()
	for i, typ := range []string{aString, aString, "I"} {
		r.Value(decode.ByIndex, "", i, typ)
	}
	require.Nil(t, r.Err())
	assert.Equal(t, len(body), r.Offset())
	fault := r.(decode.Faulter).Fault()
	require.NotNil(t, fault)
	assert.Equal(t, decode.Unsupported, fault.Cause)
	assert.Equal(t, at, fault.At)
	r.Reset(body, decode.Malformed, nil)
	assert.Nil(t, r.(decode.Faulter).Fault())
}

// Arguments that do not end with the body, in whatever way they are divided.
func TestNoWay(t *testing.T) {
	for _, c := range []struct{ name, desc, hex, want string }{
		{"bytes too many", "I" + aString, "02 04 6162 00", `[1]`},
		{"bytes too few", aString + "D", "04 6162", `[]`},
		{"a text too long", "I" + aString, "02 08 6162", `[1]`},
	} {
		m := formattest.Request(Format, call("hi", c.desc, formattest.Hex(c.hex)), decode.Malformed)
		require.NotNil(t, m.Err, c.name)
		assert.Equal(t, decode.Malformed, m.Err.Cause, c.name)
		assert.Equal(t, c.want, m.Value("args"), c.name)
	}
}

// Where the end of a body is not in the capture, its nulls are told by what cannot be otherwise.
func TestNullsOfCutBodies(t *testing.T) {
	for _, c := range []struct{ name, desc, hex, want string }{
		{"a text that is cut", aString + "I", "c801 6162", `[]`},
		{"numbers before it", "I" + "D" + aString, "02 000000000000f83f 7e 6162", `[1,1.5]`},
		{"a text behind which there is more", aString + aString, "04 6162", `["ab"]`},
		{"one of three texts, or two", aString + aString + aString, "04 6162", `[]`},
		{"a text that a number follows", aString + "D", "04 6162 00", `[]`},
		{"a text that is none", aString + "[B" + "D", "04 80ff 00", `[null]`},
	} {
		m := formattest.Request(Format, call("hi", c.desc, formattest.Hex(c.hex)), decode.Cut)
		require.NotNil(t, m.Err, c.name)
		assert.Equal(t, decode.Cut, m.Err.Cause, c.name)
		assert.Equal(t, c.want, m.Value("args"), c.name)
		formattest.Balance(t, &m.Tree, m.Taken)
	}
}

// The method of a generic call is never null; its types can be.
func TestGeneric(t *testing.T) {
	desc := aString + "[" + aString + "[Ljava/lang/Object;"
	const hi, ints, noTypes = "04 6869", "02 06 696e74 00", "00"
	for _, c := range []struct{ name, hex, want string }{
		{"types", hi + ints + "02 00", `["hi",["int"]]`},
		{"no types, no arguments", hi + noTypes + "00", `["hi",[]]`},
		{"null for types", hi + "04 00", `["hi",null]`},
		{"one of both is null", hi + "00", `["hi"]`},
		{"texts that are no types, or arguments", hi + "02 04 2020 00 02 00", `["hi"]`},
	} {
		m := formattest.Request(Format, call("$invoke", desc, formattest.Hex(c.hex)), decode.Malformed)
		require.NotNil(t, m.Err, c.name)
		assert.Equal(t, decode.Unsupported, m.Err.Cause, c.name)
		assert.Equal(t, c.want, m.Value("args"), c.name)
	}
}

// A search ends soon, whatever the bytes.
func TestSearchIsBounded(t *testing.T) {
	mega := 1 << 20
	for _, c := range []struct {
		name string
		desc string
		args []byte
	}{
		{"texts, each of which may be null", strings.Repeat(aString, 255), make([]byte, 200)},
		{"more arguments than Java has", strings.Repeat(aString, 3000), make([]byte, 2000)},
		{"long texts in long texts", strings.Repeat(aString, 200), bytes.Repeat([]byte{0xfe, 0x7f}, mega)},
		{"arrays in arrays", strings.Repeat("[J", 200), bytes.Repeat([]byte{0xfe, 0x7f}, mega)},
		{"arrays of arrays", strings.Repeat("[[[[[[[[J", 200), bytes.Repeat([]byte{2}, mega)},
		{"numbers", strings.Repeat("Ljava/lang/Long;", 255), bytes.Repeat([]byte{2}, 128)},
	} {
		body := call("hi", c.desc, c.args)
		used := testkit.CPU()
		for _, short := range []decode.Cause{decode.Malformed, decode.Cut} {
			m := formattest.Request(Format, body, short)
			if m.Err == nil {
				assert.Equal(t, len(body), m.Taken, c.name)
			}
			var got []map[string]any // opaque values, or none
			require.NoError(t, json.Unmarshal([]byte(m.Value("args")), &got), c.name)
		}
		assert.Less(t, used(), 10*time.Second, c.name)
	}
}

// anArgument is a value that an argument can have, and the bytes that avro's writer makes of it.
type anArgument struct {
	typ   string
	value any
	wire  []byte
}

// arguments are values of few and small numbers, so that many ways to divide their bytes fit.
func arguments(r *rand.Rand) []anArgument {
	args := make([]anArgument, 1+r.IntN(5))
	for i := range args {
		a := &args[i]
		a.typ = []string{"I", "Z", "F", aString, aString, anInt, "Ljava/lang/Boolean;", "[I", "[B", "[" + aString, aList, "Ljava/util/Date;", aUser}[r.IntN(13)]
		if len(a.typ) > 1 && r.IntN(2) == 0 || a.typ == aList {
			continue
		}
		n := r.IntN(3)
		switch a.typ {
		case "I", anInt:
			a.value, a.wire = float64(n), binary.AppendVarint(nil, int64(n))
		case "Z", "Ljava/lang/Boolean;":
			a.value, a.wire = n > 0, []byte{byte(min(n, 1))}
		case "F":
			a.value, a.wire = float64(n), binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(n)))
		case aString:
			s := "\x00\x02"[:n]
			a.value, a.wire = s, append(binary.AppendVarint(nil, int64(n)), s...)
		case "[B":
			b := []byte{2, 0}[:n]
			a.value, a.wire = map[string]any{"@bytes": []string{"", "Ag==", "AgA="}[n]}, append(binary.AppendVarint(nil, int64(n)), b...)
		case "[I":
			a.value, a.wire = []any{}, []byte{0}
			if n > 0 {
				a.value, a.wire = []any{float64(n)}, []byte{2, byte(2 * n), 0}
			}
		case "[" + aString:
			a.value, a.wire = []any{}, []byte{0}
			if n > 0 {
				a.value, a.wire = []any{""}, []byte{2, 0, 0}
			}
		case aUser:
			a.value, a.wire = "opaque", []byte{4, 2, 0}[:n]
		}
	}
	return args
}

// No value is printed that was not there: of any arguments each is printed as it was, or as opaque.
func TestNoValueIsWrong(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	printed, opaque := 0, 0
	for range 15000 {
		args := arguments(r)
		desc, wire := "", []byte(nil)
		for _, a := range args {
			desc += a.typ
			wire = append(wire, a.wire...)
		}
		body := call("hi", desc, wire)
		for end := len(body); end >= len(body)-len(wire); end -= 1 + len(wire)/2 {
			short := decode.Malformed
			if end < len(body) {
				short = decode.Cut
			}
			m := formattest.Request(Format, body[:end], short)
			formattest.Balance(t, &m.Tree, m.Taken)
			if short == decode.Malformed {
				require.True(t, m.Err == nil || m.Err.Cause == decode.Unsupported, "%s %x: %v", desc, wire, m.Err)
				require.True(t, m.Err != nil || m.Taken == len(body), "%s %x", desc, wire)
			}
			var got []any
			require.NoError(t, json.Unmarshal([]byte(m.Value("args")), &got))
			for i, v := range got {
				if o, ok := v.(map[string]any); ok && o["@opaque"] != nil {
					opaque++
					continue
				}
				if short == decode.Cut && i == len(got)-1 {
					continue // an array may be cut inside
				}
				require.Equal(t, args[i].value, v, "%s %x: argument %d of %s", desc, wire, i, m.Value("args"))
				printed++
			}
		}
	}
	require.Greater(t, printed, 10000) // it does not hide everything
	require.Greater(t, opaque, 1000)
}
