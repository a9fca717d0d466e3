package msgpack_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/msgpack"
)

// Without a tree a value is counted without allocating anything, and the sum is that of the tree.
func TestCounted(t *testing.T) {
	for _, row := range formattest.Values(t, "testdata/values.tsv") {
		counted(t, row.Body)
	}
	for _, hex := range []string{
		"80", "90", "de 0000", "df 00000000", "dc 0000", "dd 00000000", "de 0001 a161 01",
		"82 a16182a16201a16390 a163 93 01 c0 c3", "81 05 a161", "81 81a161a162 a163", "81 90 80", "81 c0 01",
		"91 c4 02 0102", "91 c5 0002 0102", "91 c6 00000002 0102", "91 ca 00000000", "91 cb" + zeros(8), "93 cc ff cd ffff ce ffffffff",
		"91 cf" + zeros(8), "94 d0 ff d1 ffff d2 ffffffff d3" + zeros(8), "92 d4 01 00 d8 01" + zeros(16), "91 c7 01 05 00",
		"93 d9 01 61 da 0001 61 db 00000001 61", "82 a6 40636c617373 a3 612e42 a178 81 a179 01", "81 a6 40636c617373 05",
		"82 a6 40636c617373 a3 612e42 c0 01",
	} {
		counted(t, formattest.Hex(hex))
	}
}

func counted(t *testing.T, body []byte) {
	for _, typ := range []string{"", "Ljava/util/Map;"} {
		tree := decode.Tree{}
		tree.Open(decode.List, decode.ByField, "args", 0, 0)
		r := msgpack.Format.New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByIndex, "", 0, typ)
		tree.Close()
		require.Nil(t, r.Err())

		var sum decode.PartBytes
		var ok bool
		count := func() {
			r.Reset(body, decode.Malformed, nil)
			s := r.(decode.Summer)
			s.Open(decode.List, decode.ByField, "args", 0)
			r.Value(decode.ByIndex, "", 0, typ)
			s.Close()
			sum, ok = s.Sum()
		}
		count()
		require.True(t, ok)
		require.Equal(t, tree.Bytes(), sum, "%x", body)
		require.Equal(t, len(body), r.Offset())
		require.Zero(t, testing.AllocsPerRun(10, count), "%x", body)
	}
}
