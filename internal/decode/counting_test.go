package decode

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// whatever does the same random things with a recorder, whatever that records in.
func whatever(r *Recorder, rng *rand.Rand) {
	names := []string{"class", "field", "length", "attachments", "result", "a"}
	labels := []Label{ByIndex, ByField, ByKey, ByEntry, ByMember, ByRole}
	kinds := []Kind{Overhead, Null, Int, String, Opaque, Custom}
	var steps func(n, depth int)
	steps = func(n, depth int) {
		for range n {
			k, l, name := kinds[rng.IntN(len(kinds))], labels[rng.IntN(len(labels))], names[rng.IntN(len(names))]
			if rng.IntN(3) > 0 {
				r.Skip(1+rng.IntN(3), "bytes")
			}
			switch op := rng.IntN(9); {
			case op < 3:
				r.Leaf(k, l, name, 0)
			case op < 5:
				r.Role(name)
			case op == 5 && depth < 5:
				i := r.Open(List, l, name, 0)
				steps(rng.IntN(6), depth+1)
				if rng.IntN(2) == 0 {
					r.Fill(i)
				}
				r.Close()
			case op == 6:
				m := r.Mark()
				steps(rng.IntN(4), 5)
				if rng.IntN(2) == 0 {
					r.Rewind(m)
				}
			case op == 7:
				r.Hidden(name, func() { steps(rng.IntN(3), 5) })
			case op == 8:
				r.LeafAt(k, l, name, 0, r.Off, r.Off)
			}
		}
	}
	steps(12, 0)
	r.Role("end")
}

// Without a tree the sums are those that the tree would have, also within attachments, after errors, and after what was
// rewound or hidden.
func TestCountIsTheSumOfTheTree(t *testing.T) {
	for seed := range uint64(3000) {
		body := make([]byte, 20+seed%80)
		var tree Tree
		var with, without Recorder
		with.Reset(body, Malformed, &tree)
		without.Reset(body, Malformed, nil)
		whatever(&with, rand.New(rand.NewPCG(1, seed)))
		whatever(&without, rand.New(rand.NewPCG(1, seed)))
		require.Equal(t, with.Err(), without.Err(), seed)
		sum, ok := without.Sum()
		require.Equal(t, with.OK(), ok, seed)
		if !ok {
			continue
		}
		require.Equal(t, tree.Bytes(), sum, seed)
		at, opaque := without.FirstOpaque()
		first := -1
		for i := range tree.Nodes {
			if first < 0 && tree.Nodes[i].Kind == Opaque {
				first = int(tree.Nodes[i].Off)
			}
		}
		require.Equal(t, first >= 0, opaque, seed)
		if opaque {
			require.Equal(t, first, at, seed)
		}
	}
}

func TestOnlyATreeTells(t *testing.T) {
	var r Recorder
	r.Reset([]byte{1, 2, 3}, Malformed, nil)
	m := r.Mark()
	r.NeedTree()
	_, ok := r.Sum()
	require.False(t, ok)
	r.Rewind(m)
	_, ok = r.Sum()
	require.True(t, ok, "what needed one was not read")

	r.Skip(2, "bytes")
	r.Run(Int, maxCounted)
	_, ok = r.Sum()
	require.True(t, ok)
	r.Byte("a byte")
	r.Leaf(Int, ByIndex, "", 0)
	_, ok = r.Sum()
	require.False(t, ok, "more values than a tree takes")
}

func TestRecount(t *testing.T) {
	var r Recorder
	r.Reset([]byte{1, 2, 3, 4}, Malformed, nil)
	r.Open(Map, ByField, "result", 0)
	m := r.Mark()
	r.Skip(3, "bytes")
	r.Leaf(String, ByEntry, "", 0)
	r.Recount(ClassNames, 2)
	sum, _ := r.Sum()
	require.Equal(t, PartBytes{ClassValues: 1, ClassNames: 2}, sum)
	r.Discount(m)
	sum, _ = r.Sum()
	require.Zero(t, sum)
	r.Close()
	r.Open(Map, ByField, "attachments", 0)
	r.Skip(1, "a byte")
	r.Leaf(String, ByEntry, "", 0)
	r.Recount(ClassNames, 1)
	sum, _ = r.Sum()
	require.Equal(t, PartBytes{ClassAttachments: 1}, sum, "attachments stay what they are")
}

// Equal names are one string, whatever else is named; others never are.
func TestNamesAreShared(t *testing.T) {
	var n nameCache
	require.Equal(t, "", n.get(nil))
	for range 2 {
		for i := range 3 * maxNames {
			name := fmt.Sprintf("%x", i*i)
			require.Equal(t, name, n.get([]byte(name)))
		}
	}
	require.LessOrEqual(t, len(n.all), maxNames)
	for _, b := range []string{"a", "ab", "abc", "abcd", "abcdefgh", "abcdefghi", "ba", "abcdefg"} {
		require.Equal(t, b, n.get([]byte(b)))
		require.Zero(t, testing.AllocsPerRun(5, func() { n.get([]byte(b)) }), b)
	}
	require.Equal(t, "\ufffda", n.get([]byte("\xffa")))
	require.Equal(t, "\ufffda", n.get([]byte("\xffa")), "found again by its bytes, not by its text")
	require.Equal(t, "\ufffda", n.get([]byte("\ufffda")))
	long := make([]byte, maxNameLen+1)
	n.get(long)
	require.NotContains(t, n.all, string(long))
}
