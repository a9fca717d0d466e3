package furycompatible

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

func TestFrames(t *testing.T) { formattest.Whole(t, Format, "testdata/frames.tsv") }

func TestLaterValues(t *testing.T) { formattest.Wants(t, Format010, "testdata/values-later.tsv") }

// REQ sayHello(String) as Fury 0.10.2 writes it.
func TestLaterRequest(t *testing.T) {
	body := formattest.Hex(
		"070000000114322e302e32060000000110642e4869070000000114302e302e30040000000108686915000000014c4c6a6176612f6c616e672f537472696e673b49",
		"0b00000002ffffffff002c0c626f62 0800000002ffffffff00240a 1600000002ffffffff00440100012c2c107061746810642e4869")
	m := formattest.Request(Format010, body, decode.Malformed)
	require.Equal(t, `2.0.2 | d.Hi | 0.0.0 | hi | Ljava/lang/String;I | ["bob",5] | {"path":"d.Hi"}`, m.Summary())
	formattest.Balance(t, &m.Tree, len(body))
	assert.Equal(t, decode.Own, Format010.Tell(body, decode.BodyRequest))
	assert.Equal(t, decode.Foreign, Format.Tell(body, decode.BodyRequest))
}

// What is not a document as this mode writes them is measured.
func TestHostile(t *testing.T) {
	for _, hex := range []string{
		"01000000 02", "05000000 02 ffffffff", "07000000 02 10000000 002c", "0a000000 02 ffffffff 00 2c 14 61 62", "06000000 02 ffffffff fe",
	} {
		body := formattest.Hex(hex)
		assert.Contains(t, formattest.Value(t, Format010, body), "@opaque", hex)
		formattest.Check(t, Format010, body)
	}
	formattest.Stops(t, Format010, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "longer than the body", Body: formattest.Hex("08000000 02 ffffffff"), Cause: decode.Malformed},
	})
}

func FuzzReader(f *testing.F) { formattest.Fuzz(f, Format, "testdata/frames.tsv") }

func FuzzLater(f *testing.F) { formattest.Fuzz(f, Format010, "testdata/values-later.tsv") }

func request(tb testing.TB) []byte {
	return formattest.Named(tb, "testdata/frames.tsv", "bid C2S")
}

func TestNoAllocs(t *testing.T) { formattest.NoAllocs(t, Format, request(t)) }

func BenchmarkReader(b *testing.B) { formattest.Bench(b, Format, request(b)) }
