package decode

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLongNameInPath: a long name is cut between two characters.
func TestLongNameInPath(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{strings.Repeat("a", 128), strings.Repeat("a", 128)},
		{strings.Repeat("a", 129), `["` + strings.Repeat("a", 128) + `..."]`},
		{strings.Repeat("码", 43), `["` + strings.Repeat("码", 42) + `..."]`},
		{strings.Repeat("\x80", 200), `["` + strings.Repeat(`\x80`, 124) + `..."]`}, // is not UTF-8
	} {
		assert.Equal(t, c.want, string(AppendSegment(nil, ByField, c.name, 0)))
	}
}

// TestRandomParts compares the parts of random trees, in wire order and not, with those that the path of each node tells.
func TestRandomParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	names := []string{"a", "b.c", "name", "opaque", `back\slash`, "é", "\x80", `"`}
	for range 3000 {
		var tree Tree
		at := 0
		for range 1 + random.IntN(20) {
			kind, label, name := Kind(random.IntN(int(Missing)+1)), Label(random.IntN(int(Whole)+1)), names[random.IntN(len(names))]
			switch random.IntN(4) {
			case 0:
				tree.Open(List, label, name, random.IntN(3), at)
			case 1:
				tree.Close()
			default:
				n := random.IntN(3)
				tree.Leaf(kind, label, name, random.IntN(2), at, at+n)
				at += n
			}
			if random.IntN(40) == 0 {
				at = random.IntN(20)
			}
		}
		tree.CloseTo(0)
		var want []Part
		root := 0
		for i := range tree.Nodes {
			n := &tree.Nodes[i]
			if n.Parent < 0 {
				root = i
			}
			if n.Len > 0 {
				want = append(want, Part{tree.Path(i), n.class(&tree.Nodes[root], i == root), int(n.Off), int(n.Len)})
			}
		}
		slices.SortStableFunc(want, func(a, b Part) int { return a.Off - b.Off })
		joined := want[:0:0]
		for _, p := range want {
			if k := len(joined) - 1; k >= 0 && joined[k].Path == p.Path && joined[k].Off+joined[k].Bytes == p.Off {
				joined[k].Bytes += p.Bytes
			} else {
				joined = append(joined, p)
			}
		}
		require.Equal(t, joined, tree.Parts(nil, 0))
		sum := 0
		for _, n := range tree.Bytes() {
			sum += int(n)
		}
		for _, p := range want {
			if p.Class != ClassMissing {
				sum -= p.Bytes
			}
		}
		require.Zero(t, sum)
	}
}
