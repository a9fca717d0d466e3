package nativehessian

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

// Measured bytes of Dubbo 2.7.8 (hessian 4.0.38) and of the extension on 3.3.4 (hessian 4.0.66).
const (
	valueRows = "testdata/values.tsv"
	frameRows = "testdata/frames.tsv"
)

// differing is what native-hessian writes in another way than hessian2, as JSON.
var differing = map[string][]string{
	"Float 1.5f":           {`1.5`},
	"Short 3":              {`3`},
	"Byte 3":               {`3`},
	"BigDecimal 1.5":       {`{"@class":"java.math.BigDecimal","scale":1,"intVal":null}`, `{"@decimal":"1.5"}`},
	"BigInteger 255":       {`{"@decimal":"255"}`},
	"LocalDate 2020-01-02": {`{"@date":"2020-01-02"}`},
	"ArrayList[a,1]":       {`["a",1]`},
	"User(7,bob)":          {`{"@class":"Gen$User","id":7,"name":"bob"}`},
	"ArrayList[u,u]":       {`[{"@class":"Gen$User","id":7,"name":"bob"},{"@ref":"result[0]"}]`},
}

func TestMeasuredValues(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range formattest.Values(t, valueRows) {
		if strings.HasPrefix(row.Name, "REQ") || strings.HasPrefix(row.Name, "RES") || strings.HasPrefix(row.Name, "two ") {
			continue // more than one value
		}
		got := formattest.Value(t, Format, row.Body)
		assert.NotEmpty(t, got)
		if want := differing[row.Name]; want != nil {
			assert.Contains(t, want, got, row.Name)
			seen[row.Name] = true
		}
	}
	assert.Len(t, seen, len(differing))
}

func TestMeasuredFrames(t *testing.T) {
	for _, row := range formattest.Frames(t, frameRows) {
		var m *formattest.Message
		switch {
		case strings.HasPrefix(row.Name, "wait"), len(row.Body) < 3: // heartbeats, read-only events
			continue
		case strings.HasSuffix(row.Name, "C2S"):
			m = formattest.Request(Format, row.Body, decode.Malformed)
		default:
			m = formattest.Response(Format, row.Body, decode.Malformed)
		}
		require.Nil(t, m.Err, row.Name)
		require.Equal(t, len(row.Body), m.Taken, row.Name)
		formattest.Balance(t, &m.Tree, m.Taken)
	}
}

// TestTell: Dubbo 2.7.0 and 2.7.1 wrote protostuff under the id.
func TestTell(t *testing.T) {
	for _, c := range []struct {
		hex  string
		kind decode.BodyKind
		want decode.Verdict
	}{
		{"05322e302e32", decode.BodyRequest, decode.Own},
		{"4e", decode.BodyRequest, decode.Own},
		{"00000005 322e302e32 00000004 642e4869", decode.BodyRequest, decode.Foreign},
		{"ff", decode.BodyRequest, decode.Unsure},
		{"", decode.BodyRequest, decode.Unsure},
		{"94 0161", decode.BodyResult, decode.Own},
		{"92", decode.BodyResult, decode.Own},
		{"01 00000010 6a6176612e6c616e672e537472696e67", decode.BodyResult, decode.Foreign},
		{"02", decode.BodyResult, decode.Foreign},
		{"96", decode.BodyResult, decode.Unsure},
		{"03616263", decode.BodyText, decode.Own},
		{"3100 61", decode.BodyText, decode.Own},
		{"53 0161", decode.BodyText, decode.Own},
		{"52 8000", decode.BodyText, decode.Own},
		{"00", decode.BodyText, decode.Unsure},
		{"00000003 616263", decode.BodyText, decode.Foreign},
		{"4e", decode.BodyEvent, decode.Own},
		{"0152", decode.BodyEvent, decode.Own},
		{"00000010 0000000a 6a6176612e", decode.BodyEvent, decode.Foreign},
		{"", decode.BodyEvent, decode.Unsure},
	} {
		assert.Equal(t, c.want, Format.Tell(formattest.Hex(c.hex), c.kind), c.hex)
	}
}

func TestHostile(t *testing.T) {
	h := formattest.Hex
	formattest.Stops(t, Format, []formattest.Hostile{
		{Name: "a list of 2^31-1", Body: h("58 49 7fffffff"), Cause: decode.Malformed},
		{Name: "a reference to nothing", Body: h("51 90"), Cause: decode.Malformed},
		{Name: "nested lists", Body: []byte(strings.Repeat("\x79", 5000)), Cause: decode.Limit},
	})
}

func FuzzReader(f *testing.F) {
	f.Add(formattest.Hex("01 00000010 6a6176612e6c616e672e537472696e67"))
	formattest.Fuzz(f, Format, valueRows, frameRows)
}

func BenchmarkRequest(b *testing.B) {
	for _, row := range formattest.Frames(b, frameRows) {
		if row.Name == "user C2S" {
			formattest.Bench(b, Format, row.Body)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for _, row := range formattest.Frames(t, frameRows) {
		if row.Name == "user C2S" {
			formattest.NoAllocs(t, Format, row.Body)
		}
	}
}

// TestGraphs reads bodies of random values: beans, collections, maps, arrays, handles, shared and cyclic references. What
// a row wants was equal to what a dump of the values in the writing JVM says.
func TestGraphs(t *testing.T) { formattest.WantsBodies(t, Format, "testdata/graphs.tsv") }
