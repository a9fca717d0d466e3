package hessian2

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

const (
	localDateClass = "6a6176612e74696d652e4c6f63616c44617465" // java.time.LocalDate
	calendarHex    = "43 3030 636f6d2e616c69626162612e636f6d2e63617563686f2e6865737369616e2e696f2e43616c656e64617248616e646c65 " +
		"92 0464617465 0474797065 60 4b00000000 4e"
)

// hostile are bodies that stop with a cause; some of them make other decoders allocate gigabytes, loop or overflow.
func hostile() []formattest.Hostile {
	const bad = decode.Malformed
	h := formattest.Hex
	return []formattest.Hostile{
		{Name: "nothing", Body: nil, Cause: bad},
		{Name: "unused opcode 40", Body: h("40"), Cause: bad},
		{Name: "unused opcode 45", Body: h("45"), Cause: bad},
		{Name: "unused opcode 47", Body: h("47"), Cause: bad},
		{Name: "unused opcode 50", Body: h("50"), Cause: bad},
		{Name: "an end alone", Body: h("5a"), Cause: bad},
		{Name: "an end as a field", Body: h("43 0143 91 0161 60 5a"), Cause: bad},
		{Name: "an end as a value of a map", Body: h("48 91 5a"), Cause: bad},

		{Name: "a list of 2^31-1", Body: h("58 49 7fffffff"), Cause: bad},
		{Name: "a typed list of 2^31-1", Body: h("56 045b696e74 49 7fffffff"), Cause: bad},
		{Name: "a list of -1", Body: h("58 8f"), Cause: bad},
		{Name: "a list of -2^31", Body: h("58 49 80000000"), Cause: bad},
		{Name: "a list of one too many", Body: h("58 93 91 91"), Cause: bad},
		{Name: "a list of a long", Body: h("58 e1 91"), Cause: bad},
		{Name: "a short list of one too many", Body: h("7b 91 91"), Cause: bad},
		{Name: "a list without end", Body: h("57 91 91"), Cause: bad},
		{Name: "a map without end", Body: h("48 91 91"), Cause: bad},
		{Name: "a map without value", Body: h("48 91"), Cause: bad},

		{Name: "a class of 2^31-1 fields", Body: h("43 0143 49 7fffffff 0161"), Cause: bad},
		{Name: "a class of -1 fields", Body: h("43 0143 8f"), Cause: bad},
		{Name: "a class named null", Body: h("43 4e 90 60"), Cause: bad},
		{Name: "a class named 1", Body: h("43 91 90 60"), Cause: bad},
		{Name: "a field named null", Body: h("43 0143 91 4e 60 91"), Cause: bad},
		{Name: "a class without object", Body: h("43 0143 90 91"), Cause: bad},
		{Name: "a class and nothing", Body: h("43 0143 90"), Cause: bad},
		{Name: "an object of no class", Body: h("60"), Cause: bad},
		{Name: "an object of the next class", Body: h("43 0143 90 61"), Cause: bad},
		{Name: "an object of class -1", Body: h("43 0143 90 4f 8f"), Cause: bad},
		{Name: "an object of class 2^31-1", Body: h("43 0143 90 4f 49 7fffffff"), Cause: bad},
		{Name: "an object short of a field", Body: h("43 0143 92 0161 0162 60 91"), Cause: bad},
		{Name: "a class that its own definition uses", Body: h("43 0143 91 0161 60 61"), Cause: bad},

		{Name: "a reference to nothing", Body: h("51 90"), Cause: bad},
		{Name: "a reference to the next object", Body: h("7a 51 91 78"), Cause: bad},
		{Name: "a reference to -1", Body: h("79 51 8f"), Cause: bad},
		{Name: "a reference to 2^31-1", Body: h("79 51 49 7fffffff"), Cause: bad},
		{Name: "a reference to a string", Body: h("79 51 0161"), Cause: bad},
		{Name: "a type by an index of nothing", Body: h("70 90"), Cause: bad},
		{Name: "a type by index -1", Body: h("7a 70 0161 70 8f"), Cause: bad},
		{Name: "a type by the next index", Body: h("7a 70 0161 70 91"), Cause: bad},
		{Name: "a type null", Body: h("4d 4e 5a"), Cause: bad},

		{Name: "a string of 31, one byte", Body: h("1f 61"), Cause: bad},
		{Name: "a string of 65535", Body: h("53 ffff 61"), Cause: bad},
		{Name: "a string without length", Body: h("53 ff"), Cause: bad},
		{Name: "a chunk and nothing", Body: h("52 0001 61"), Cause: bad},
		{Name: "a chunk and an int", Body: h("52 0001 61 91"), Cause: bad},
		{Name: "a chunk and a binary", Body: h("52 0001 61 21 01"), Cause: bad},
		{Name: "empty chunks", Body: bytes.Repeat(h("52 0000"), 1000), Cause: bad},
		{Name: "a continuation byte alone", Body: h("01 80"), Cause: bad},
		{Name: "2 bytes, no continuation", Body: h("02 c3 61"), Cause: bad},
		{Name: "3 bytes, no continuation", Body: h("01 e4b8 61"), Cause: bad},
		{Name: "3 bytes, cut", Body: h("01 e4b8"), Cause: bad},
		{Name: "4 bytes for one unit", Body: h("01 f09f9880"), Cause: bad},
		{Name: "4 bytes beyond Unicode", Body: h("02 f4908080"), Cause: bad},
		{Name: "4 bytes longer than needed", Body: h("02 f0808080"), Cause: bad},
		{Name: "a byte of no encoding", Body: h("01 ff"), Cause: bad},
		{Name: "5 bytes", Body: h("05 f888808080"), Cause: bad},
		{Name: "a binary of 65535", Body: h("42 ffff 61"), Cause: bad},
		{Name: "a binary chunk and a string", Body: h("41 0001 61 01 61"), Cause: bad},
		{Name: "empty binary chunks", Body: bytes.Repeat(h("41 0000"), 1000), Cause: bad},

		{Name: "a compact date and nothing", Body: h("43 13", localDateClass, "90 60"), Cause: bad},
		{Name: "a compact date of an int", Body: h("43 13", localDateClass, "90 60 91"), Cause: bad},
		{Name: "a compact date of null", Body: h("43 13", localDateClass, "90 60 4e"), Cause: bad},
		{Name: "a compact date of a string", Body: h("43 13", localDateClass, "90 60 0161"), Cause: bad},
		{Name: "a compact date of half a long", Body: h("43 13", localDateClass, "90 60 4c 00000000"), Cause: bad},
		{Name: "the second compact date and nothing", Body: h("7a 43 13", localDateClass, "90 60 e0 60"), Cause: bad},
		{Name: "a reference beyond a Calendar however it counts", Body: h("7a", calendarHex, "51 93"), Cause: bad},
		{Name: "a reference to an Iterator", Body: h("7a 57 5a 51 91"), Cause: bad},
		{Name: "a reference to nothing, in an Iterator", Body: h("57 51 90 5a"), Cause: bad},

		{Name: "nested lists", Body: bytes.Repeat(h("79"), 100_000), Cause: decode.Limit},
		{Name: "nested endless lists", Body: bytes.Repeat(h("57"), 100_000), Cause: decode.Limit},
		{Name: "nested typed lists", Body: append(h("71 0161"), bytes.Repeat(h("71 90"), 100_000)...), Cause: decode.Limit},
		{Name: "nested maps", Body: bytes.Repeat(h("48 91"), 100_000), Cause: decode.Limit},
		{Name: "nested maps as keys", Body: bytes.Repeat(h("48"), 100_000), Cause: decode.Limit},
		{Name: "nested objects", Body: append(h("43 0143 91 0161"), bytes.Repeat(h("60"), 100_000)...), Cause: decode.Limit},
		{Name: "nested definitions", Body: bytes.Repeat(h("43 0143 91 0161 60"), 100_000), Cause: decode.Limit},
	}
}

func TestHostile(t *testing.T) {
	formattest.Stops(t, Format, hostile())
}

// TestDepth: as deep as it goes, and one deeper.
func TestDepth(t *testing.T) {
	for _, c := range []struct {
		depth int
		cause decode.Cause
	}{{decode.MaxDepth, decode.None}, {decode.MaxDepth + 1, decode.Limit}} {
		body := append(bytes.Repeat([]byte{0x79}, c.depth-1), 0x78)
		tree := decode.Tree{WithValues: true}
		r := New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByField, "v", 0, "")
		cause := decode.None
		if r.Err() != nil {
			cause = r.Err().Cause
		}
		assert.Equal(t, c.cause, cause)
		assert.Equal(t, min(c.depth, decode.MaxDepth), r.Offset()+min(1, c.depth-len(body)))
		formattest.Balance(t, &tree, r.Offset())
	}
}

// TestFullTree: a tree that takes no more nodes stops the walk at a byte that no node owns.
func TestFullTree(t *testing.T) {
	body := benchBodies()["users"]
	for n := 1; n < 200; n++ {
		tree := decode.Tree{WithValues: true, MaxNodes: n}
		r := New()
		r.Reset(body, decode.Malformed, &tree)
		r.Value(decode.ByField, "v", 0, "")
		require.NotNil(t, r.Err())
		require.Equal(t, decode.Limit, r.Err().Cause)
		require.Len(t, tree.Nodes, n)
		formattest.Balance(t, &tree, r.Offset())
	}
}

// TestLinear: bodies made to be dear cost no more than in proportion to their bytes, in time and in memory.
func TestLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: the race detector finds nothing")
	}
	const size = 1 << 18
	fill := func(head *writer, unit string) []byte {
		return append(head.b, bytes.Repeat(formattest.Hex(unit), (size-len(head.b))/len(formattest.Hex(unit)))...)
	}
	endless := func() *writer { // a list of a type, since references count it
		w := new(writer).hex("55").str("a")
		w.types = append(w.types, "a")
		return w
	}
	long := strings.Repeat("n", 1000)
	enum := func(w *writer) *writer { return w.object("E", "name").str("RED") }
	for name, body := range map[string][]byte{
		"objects without fields":    fill(endless().object(long), "60"),
		"classes without fields":    fill(endless(), "43 00 90 60"),
		"classes of one field":      fill(endless(), "43 0143 91 0161 60 91"),
		"types by string":           fill(endless(), "70 00"),
		"types by index":            fill(endless().typed(long, 0), "70 91"),
		"references to itself":      fill(endless(), "51 90"),
		"references to an enum":     fill(enum(endless()), "51 91"),
		"references, then no enum":  append(fill(enum(endless()), "51 91"), new(writer).hex("60 03626f62 5a").b...),
		"references, then a key":    append(fill(enum(endless()), "51 91"), new(writer).hex("48 60 03626f62 91 5a 5a").b...),
		"keys that are no names":    fill(enum(endless()), "48 60 03612062 91 5a 48 60 0161 91 5a"),
		"sets of one empty array":   fill(endless().object(handlePackage+"EnumSetHandler", "objects", "type").typed("[object", 0).null(), "60 51 92 4e"),
		"sets of one array":         fill(endless().object(handlePackage+"EnumSetHandler", "objects", "type").typed("[object", 5).hex("91 91 91 91 91").null(), "60 51 92 4e"),
		"indexes that are none":     fill(endless(), "51 49 deadbeef"),
		"arrays behind a Calendar":  fill(endless().hex(calendarHex), "71 025b61 51 91"),
		"enums that are none":       fill(endless(), "43 0145 91 046e616d65 60 03524544 60 03524544"),
		"the same constant":         fill(enum(endless()), "60 03524544"),
		"references to a decimal":   fill(endless().object("java.math.BigDecimal", "value").str(strings.Repeat("1", 60000)), "51 91"),
		"a shared magnitude":        fill(endless().bigInteger(strings.Repeat("9", 2400)), "60 91 51 92"),
		"large numbers":             fill(endless(), "43 146a6176612e6d6174682e426967496e7465676572 92 067369676e756d 036d6167 60 91 58 c8c8"+strings.Repeat("91", 200)),
		"empty chunks":              fill(new(writer), "52 0000"),
		"short chunks":              fill(new(writer), "52 0001 61"),
		"empty binary chunks":       fill(new(writer), "41 0000"),
		"references and Calendars":  fill(endless().hex(calendarHex), "60 4b00000000 4e 51 90"),
		"references to Calendars":   fill(endless().hex(calendarHex), "60 4b00000000 4e 51 91"),
		"lists behind a Calendar":   fill(endless().hex(calendarHex), "78 51 91"),
		"fields behind a Calendar":  fill(endless().hex(calendarHex), "43 0143 91 0161 61 51 91"),
		"URIs":                      fill(endless(), "43 0c6a6176612e6e65742e555249 91 06737472696e67 60 0161 51 90"),
		"compact dates":             fill(endless(), "43 13 "+localDateClass+" 90 60 e0"),
		"nested and never finished": fill(new(writer), "57"),
		"high surrogates":           fill(endless(), "0a eda0bd eda0bd eda0bd eda0bd eda0bd eda0bd eda0bd eda0bd eda0bd eda0bd"),
		"fields of a handle":        fill(new(writer).hex("43").str("java.math.BigInteger").int(size/8), "0161"),
		"keys":                      fill(new(writer).hex("48"), "0161 91"),
	} {
		t.Run(name, func(t *testing.T) {
			tree := decode.Tree{WithValues: true, MaxNodes: 4 << 20}
			r := New()
			var before, after runtime.MemStats
			walk := func(b []byte) time.Duration {
				used := testkit.CPU()
				r.Reset(b, decode.Cut, &tree)
				r.Value(decode.ByField, "v", 0, "")
				return used()
			}
			runtime.ReadMemStats(&before)
			took := walk(body)
			runtime.ReadMemStats(&after)
			assert.Less(t, took, 30*time.Second) // quadratic ones would take minutes; the rest is for busy machines
			allocated := int(after.TotalAlloc - before.TotalAlloc)
			nodes := 6 * 200 * len(tree.Nodes) // as append grows the slice
			assert.Less(t, allocated-nodes, 100*len(body), "%d nodes, %d bytes", len(tree.Nodes), allocated)
		})
	}
}
