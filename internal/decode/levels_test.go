package decode

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Printed values are bounded in depth, with a mark where they were cut; and a tree prints the same twice.
func TestLevelsOfJSON(t *testing.T) {
	for kind, label := range map[Kind]Label{List: ByIndex, Map: ByEntry, Object: ByField} {
		var tree Tree
		tree.WithValues = true
		for range MaxDepth {
			tree.Open(kind, label, "f", 0, 0)
			if kind == Map {
				tree.Leaf(Int, ByKey, "", 0, 0, 1) // no text: the form of pairs
			}
		}
		tree.CloseTo(0)
		out := tree.AppendJSON(nil, 0)
		assert.Equal(t, string(out), string(tree.AppendJSON(nil, 0)))
		require.True(t, json.Valid(out), kind)
		assert.Contains(t, string(out), `{"@cut":true}`)
		depth, most := 0, 0
		for _, c := range string(out) {
			switch {
			case strings.ContainsRune("[{", c):
				depth++
			case strings.ContainsRune("]}", c):
				depth--
			}
			most = max(most, depth)
		}
		assert.LessOrEqual(t, most, maxLevels+4, kind)
		assert.Greater(t, most, maxLevels-4, kind)
	}
}

func TestAppendFloat(t *testing.T) {
	for _, c := range []struct {
		f    float64
		bits int
		want string
	}{
		{0, 64, "0"},
		{negativeZero(), 64, "-0.0"},
		{1.5, 64, "1.5"},
		{1e300, 32, "1e+300"},
		{float64(float32(0.1)), 32, "0.1"},
		{1 << 53, 64, "9.007199254740992e+15"},
		{123456789012345, 64, "123456789012345"},
		{-36893488147419103232, 64, "-3.6893488147419103e+19"},
	} {
		got := AppendFloat(nil, c.f, c.bits)
		assert.Equal(t, c.want, string(got))
		assert.True(t, json.Valid(got))
	}
}

func negativeZero() float64 {
	z := 0.0
	return -z
}

// Numbers with few decimals have the shortest digits that read back as the same number, as all others.
func TestShortNumbers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		n := float64(random.Int64N(1 << (1 + random.IntN(58))))
		for _, f := range []float64{n, n / 10, n / 100, n / 1000, -n / 100, math.Nextafter(n/100, 0), math.Nextafter(n/100, math.Inf(1))} {
			format := byte('f')
			if abs := math.Abs(f); abs != 0 && (abs < 1e-6 || abs >= 1<<53) {
				format = 'e'
			}
			if f != 0 && string(AppendFloat(nil, f, 64)) != strconv.FormatFloat(f, format, -1, 64) {
				t.Fatalf("%s, not %s", AppendFloat(nil, f, 64), strconv.FormatFloat(f, format, -1, 64))
			}
		}
	}
}
