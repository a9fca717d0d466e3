package java_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/decode/formats/java"
)

// Rows were measured with Dubbo 2.5.3, 2.6.12, 2.7.8 and 3.3.4 with its extension, whose bytes are the same, and with
// an ObjectOutputStream of JDK 17 after a byte 1, as Dubbo's.

func TestValues(t *testing.T) { formattest.Wants(t, java.Format, "testdata/values.tsv") }

func TestFrames(t *testing.T) { formattest.WantsFrames(t, java.Format, "testdata/frames.tsv") }

func TestSkipTextAllocatesNothing(t *testing.T) { formattest.NoAllocs(t, java.Format, request(t)) }

const stream = "aced0005"

// A null service version, as a callback's request has it, and characters of every length.
func TestEnvelope(t *testing.T) {
	body := formattest.Hex(stream, "77 31",
		"00000005 0005 322e302e32", "00000002 0005 c080 e4b8ad", "ffffffff", "00000002 0006 eda0bd edb880", "00000001 0003 eda0bd", "01 00")
	r := java.Format.New()
	r.Reset(body, decode.Malformed, nil)
	var got []string
	var nulls []bool
	for range 5 {
		s, null := r.Text("path")
		got = append(got, s)
		nulls = append(nulls, null)
	}
	require.Nil(t, r.Err())
	require.Equal(t, []string{"2.0.2", "\x00中", "", "😀", "\ufffd"}, got)
	require.Equal(t, []bool{false, false, true, false, false}, nulls)
}

// One value may lie in several blocks. Each piece belongs to the field, each head of a block to the stream.
func TestBlocks(t *testing.T) {
	payload := formattest.Hex("00000005 0005 322e302e32", "00000004 0004 642e4869", "00000005 0005 302e302e30", "00000002 0002 6869",
		"00000001 0001 49", "01")
	rest := formattest.Hex("737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200106a6176612e6c616e672e4e756d62657286ac951d0b94e08b0200007870 00000005", "77 01 00")
	for size := 1; size < len(payload); size++ {
		body := formattest.Hex(stream)
		for p := payload; len(p) > 0; p = p[min(size, len(p)):] {
			n := min(size, len(p))
			body = append(body, 0x7a, 0, 0, 0, byte(n))
			body = append(body, p[:n]...)
		}
		body = append(body, rest...)
		m := formattest.Request(java.Format, body, decode.Malformed)
		require.Equal(t, "2.0.2 | d.Hi | 0.0.0 | hi | I | [5] | null", m.Summary(), "blocks of %d", size)
		require.Equal(t, len(body), m.Taken)
		formattest.Balance(t, &m.Tree, len(body))
		sizes := map[string]int{}
		for _, p := range m.Tree.Parts(nil, 0) {
			sizes[p.Path] += p.Bytes
		}
		require.Equal(t, []int{11, 10, 11, 8, 7}, []int{sizes["dubboVersion"], sizes["path"], sizes["serviceVersion"], sizes["method"], sizes["parameterTypes"]}, "blocks of %d", size)
		formattest.NoAllocs(t, java.Format, body)
	}
}

// writeObject of 1500 bytes is two blocks; "#custom" has them joined.
func TestCustomInBlocks(t *testing.T) {
	body := formattest.Hex(stream, "770101 7372 0001 41 0000000000000001 03 0000 7870",
		"7a 00000400", strings.Repeat("aa", 1024), "7a 000001dc", strings.Repeat("bb", 476), "78")
	got := formattest.Value(t, java.Format, body)
	require.Equal(t, `{"@class":"A","#custom":{"@bytes":"`, got[:35])
	require.Len(t, got, 35+2000+3)
}

// A string of more than 65535 bytes is a long string.
func TestLongString(t *testing.T) {
	body := formattest.Hex(stream, "770101 7c 0000000000010000", strings.Repeat("61", 65536))
	require.Equal(t, `"`+strings.Repeat("a", 65536)+`"`, formattest.Value(t, java.Format, body))
}

// Behind a cut the strings before it stand.
func TestCut(t *testing.T) {
	body := request(t)
	for cut := range body {
		m := formattest.Request(java.Format, body[:cut], decode.Cut)
		require.NotNil(t, m.Err, "%d bytes", cut)
		require.Equal(t, decode.Cut, m.Err.Cause, "%d bytes: %v", cut, m.Err)
		formattest.Balance(t, &m.Tree, m.Taken)
	}
	m := formattest.Request(java.Format, body[:60], decode.Cut)
	require.Equal(t, []string{"2.0.2", "Live$Hi", "0.0.0"}, m.Texts[:3])
}

func TestHostile(t *testing.T) {
	const (
		object = stream + "770101 73"
		class  = "72 0001 41 0000000000000001 02 0000 7870"
		list   = "72 0013 6a6176612e7574696c2e41727261794c697374 7881d21d99c7619d 03 0001 49 0004 73697a65 7870"
		strs   = "75 72 0013 5b4c6a6176612e6c616e672e537472696e673b add256e7e91d7b47 02 0000 7870"
	)
	formattest.Stops(t, java.Format, []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: decode.Malformed},
		{Name: "no stream", Body: formattest.Hex("acee0005 770100"), Cause: decode.Malformed},
		{Name: "a block of -1 bytes", Body: formattest.Hex(stream, "7a ffffffff 00"), Cause: decode.Malformed},
		{Name: "a block of 2 GB, in which nothing is", Body: formattest.Hex(stream, "7a 7fffffff"), Cause: decode.Malformed},
		{Name: "blocks of nothing", Body: formattest.Hex(stream, strings.Repeat("7700", 5000)), Cause: decode.Malformed},
		{Name: "an object inside a block", Body: formattest.Hex(stream, "7702 0174 0000"), Cause: decode.Malformed},
		{Name: "neither null nor object", Body: formattest.Hex(stream, "7701 02"), Cause: decode.Malformed},
		{Name: "string longer than the body", Body: formattest.Hex(stream, "770101 74 ffff 61"), Cause: decode.Malformed},
		{Name: "string of -1 bytes", Body: formattest.Hex(stream, "770101 7c ffffffffffffffff"), Cause: decode.Malformed},
		{Name: "a handle that is not assigned", Body: formattest.Hex(stream, "770101 71 007e0000"), Cause: decode.Malformed},
		{Name: "a handle below the first", Body: formattest.Hex(stream, "770101 71 007dffff"), Cause: decode.Malformed},
		{Name: "an object of no class", Body: formattest.Hex(object, "70"), Cause: decode.Malformed},
		{Name: "an object of a string", Body: formattest.Hex(object, "74 0000"), Cause: decode.Malformed},
		{Name: "a class derived from itself", Body: formattest.Hex(object, "72 0001 41 0000000000000001 02 0000 78 71 007e0000"), Cause: decode.Malformed},
		{Name: "a field of no type", Body: formattest.Hex(object, "72 0001 41 0000000000000001 02 0001 58 0001 61"), Cause: decode.Malformed},
		{Name: "65535 fields", Body: formattest.Hex(object, "72 0001 41 0000000000000001 02 ffff 49 0001 61"), Cause: decode.Malformed},
		{Name: "an array of -1", Body: formattest.Hex(stream, "770101", strs, "ffffffff"), Cause: decode.Malformed},
		{Name: "an array of two billion", Body: formattest.Hex(stream, "770101", strs, "7fffffff 70"), Cause: decode.Malformed},
		{Name: "an array of a class that is none", Body: formattest.Hex(stream, "770101 75", class, "00000000"), Cause: decode.Malformed},
		{Name: "an enum whose name is no string", Body: formattest.Hex(stream, "770101 7e", class, "71 007e0000"), Cause: decode.Malformed},
		{Name: "two billion interfaces", Body: formattest.Hex(object, "7d 7fffffff"), Cause: decode.Malformed},
		{Name: "a list that does not end", Body: formattest.Hex(object, list, "00000001 7704 00000001 740000"), Cause: decode.Malformed},
		{Name: "an aborted stream", Body: formattest.Hex(stream, "770101 7b"), Cause: decode.Unsupported},
		{Name: "an Externalizable of protocol version 1", Body: formattest.Hex(object, "72 0001 41 0000000000000001 04 0000 7870 00"), Cause: decode.Unsupported},
		{Name: "arrays without end", Body: formattest.Hex(stream, "770101", strs, "00000001", strings.Repeat("75 71 007e0000 00000001", 5000)), Cause: decode.Limit},
		{Name: "classes without end", Body: formattest.Hex(object, strings.Repeat("72 0001 41 0000000000000001 02 0000 78", 5000)), Cause: decode.Limit},
		{Name: "classes in annotations without end", Body: formattest.Hex(object, strings.Repeat("72 0001 41 0000000000000001 02 0000", 5000)), Cause: decode.Limit},
	})
}

// A long string that is referred to again and again is repeated up to a bound and then referred to.
func TestRepeatedTexts(t *testing.T) {
	const n = 1 << 16
	body := formattest.Hex(stream, "770101 75 72 0013 5b4c6a6176612e6c616e672e4f626a6563743b 90ce589f1073296c 02 0000 7870",
		"00001000", "7c 0000000000010000", strings.Repeat("61", n), strings.Repeat("71007e0002", 0xfff))
	tree := decode.Tree{WithValues: true}
	r := java.Format.New()
	r.Reset(body, decode.Malformed, &tree)
	r.Value(decode.ByField, "result", 0, "")
	require.Nil(t, r.Err())
	formattest.Balance(t, &tree, len(body))
	kinds := map[decode.Kind]int{}
	for i := range tree.Nodes {
		kinds[tree.Nodes[i].Kind]++
	}
	require.Equal(t, 1025, kinds[decode.String])
	require.Equal(t, 3071, kinds[decode.Ref])
}

// A walk without a tree allocates nothing for a value, of whatever kind.
func TestWalkAllocatesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates")
	}
	for _, row := range formattest.Values(t, "testdata/values.tsv") {
		longNames := 0.0 // of classes, which are not kept from body to body
		for i, b := range row.Body[:len(row.Body)-2] {
			if b == 0x72 && row.Body[i+1] == 0 && row.Body[i+2] > 64 {
				longNames++
			}
		}
		r := java.Format.New()
		n := testing.AllocsPerRun(20, func() {
			r.Reset(row.Body, decode.Malformed, nil)
			r.Value(decode.ByField, "result", 0, "")
		})
		if row.Name == "fields not written by writeObject" {
			longNames += 3 // the error that says so of the first object
		}
		if r.Err() == nil { // an error is told
			require.LessOrEqual(t, n, longNames, row.Name)
		}
	}
}

func FuzzReader(f *testing.F) {
	formattest.Fuzz(f, java.Format, "testdata/values.tsv", "testdata/frames.tsv")
}

func BenchmarkReader(b *testing.B) { formattest.Bench(b, java.Format, request(b)) }

func request(tb testing.TB) []byte { return formattest.Named(tb, "testdata/frames.tsv", "generic C2S") }
