package java_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/compactedjava"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/java"
	"dubbo-wire/internal/dev/testkit"
)

// Bodies that cost little to send and would cost much to read, were anything done twice or believed. Each is read as a value,
// and in every other way, within bounds of time and memory that grow with its size.
func TestBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("for time")
	}
	const (
		value   = stream + "770101 "
		objects = "75 72 0013 5b4c6a6176612e6c616e672e4f626a6563743b 90ce589f1073296c 02 0000 7870"
		written = "73 72 0001 41 0000000000000001 03 0001 49 0001 61 7870" // a writeObject and a field
		again   = "73 71 007e0000"
		copies  = "73 72 0020 6a6176612e7574696c2e436f6c6c656374696f6e7324436f706965734c697374 26033c45b17003f8 02 0002 49 0001 6e 4c 0007 656c656d656e74 74 0012 4c6a6176612f6c616e672f4f626a6563743b 7870"
		hashSet = "73 72 0011 6a6176612e7574696c2e48617368536574 ba44859596b8b734 03 0000 7870"
	)
	count := func(n int) string {
		return string(hexOf(byte(n>>24))) + string(hexOf(byte(n>>16))) + string(hexOf(byte(n>>8))) + string(hexOf(byte(n)))
	}
	for _, c := range []struct {
		name, body string
		want       decode.Cause
	}{
		{"references to one list, in a list of a hundred thousand", value + objects + count(100001) + objects + "00000000" + strings.Repeat("71 007e0003", 100000), decode.None},
		{"lists in lists, each twice", value + strings.Repeat("75 72 0002 5b4c 0000000000000001 02 0000 7870 00000002", 300), decode.Malformed},
		{"a list in itself", value + objects + "00000002 71 007e0001 71 007e0001", decode.None},
		{"sets in sets, each the element of the next", value + strings.Repeat(hashSet+"770c 00000010 3f400000 00000001", 900), decode.Malformed},
		{"thirty thousand classes without objects", value + objects + count(30000) + strings.Repeat("76 72 0001 41 0000000000000001 02 0000 7870", 30000), decode.None},
		{"classes derived from one another", value + "73" + strings.Repeat("72 0001 41 0000000000000001 02 0000 78", 900) + "70", decode.None},
		{"restarts before a value", value + strings.Repeat("79", 1<<20) + "70", decode.None},
		{"a class with 65535 fields, again and again without them", value + objects + count(2) + "73 72 0001 41 0000000000000001 02 ffff" + strings.Repeat("42 0001 61", 0xffff) + "7870" + strings.Repeat("00", 0xffff), decode.Malformed},
		{"objects in what each wrote without its field", value + written + strings.Repeat("70"+again, 900), decode.Malformed},
		{"objects in what each wrote, with its field or without", value + written + strings.Repeat("00000000"+again, 900), decode.Malformed},
		{"twenty thousand objects that wrote no field", value + objects + count(20000) + "73 72 0001 41 0000000000000001 03 0001 49 0001 61 7870 7078" + strings.Repeat("73 71 007e0002 7078", 19999), decode.None},
		{"two billion times one element", value + copies + "7fffffff 70", decode.None},
		{"four thousand times four thousand times one element", value + objects + count(100) + copies + "00001000 70" + strings.Repeat("73 71 007e0002 00001000 70", 99), decode.None},
		{"a set of two billion", value + hashSet + "770c 7fffffff 3f400000 7fffffff 78", decode.None},
		{"a StringBuilder of two billion characters", value + "73 72 0017 6a6176612e6c616e672e537472696e674275696c646572 3cd5fb145a4c6acb 03 0000 7870 7704 7fffffff 75 72 0002 5b43 b02666b0e25d84ac 02 0000 7870 7fffffff 0061", decode.Malformed},
		{"two million empty blocks", value + hashSet + "770c 00000010 3f400000 00000000" + strings.Repeat("7700", 1<<21) + "78", decode.Limit},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := formattest.Hex(c.body)
			cost(t, len(body), func() {
				tree := decode.Tree{WithValues: true}
				r := java.Format.New()
				r.Reset(body, decode.Malformed, &tree)
				r.Value(decode.ByField, "result", 0, "")
				if c.want == decode.None {
					if err := r.Err(); err != nil {
						require.NoError(t, err)
					}
				} else {
					require.NotNil(t, r.Err())
					require.Equal(t, c.want.String(), r.Err().Cause.String(), "%v", r.Err())
				}
				formattest.Balance(t, &tree, r.Offset())
				formattest.Check(t, java.Format, body)
			})
		})
	}
}

// Compacted streams guess once in a body, whatever it is full of.
func TestCompactBombs(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"classes that nobody knows", strings.Repeat("770101 73 72 01 0001 41 7870", 50000)},
		{"objects of one, in lists", "770101 73 72 01 0013 6a6176612e7574696c2e41727261794c697374 7870 00000001 7704 00000001" + strings.Repeat("73 72 01 0001 41 7870", 100000)},
		{"ends of blocks before maps", strings.Repeat("77 04 000000 01 73 71 007e0011 3f400000 0000000c 7708 00000010 00000001", 30000)},
		{"zeros", strings.Repeat("00", 1<<20) + "01 73"},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := formattest.Hex(stream, c.body)
			cost(t, len(body), func() { formattest.Check(t, compactedjava.Format, body) })
		})
	}
}

// cost checks what f may allocate and take for a body of n bytes.
func cost(t *testing.T, n int, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	used := testkit.CPU()
	f()
	took := used()
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20+6<<10*n))
	require.Less(t, took, 20*time.Second+time.Duration(n)*20*time.Microsecond)
}

const digits = "0123456789abcdef"

func hexOf(b byte) []byte { return []byte{digits[b>>4], digits[b&15]} }
