package truth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The comparison that the values are proven by finds differences.
func TestComparer(t *testing.T) {
	parse := func(s string) (v any) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		require.NoError(t, d.Decode(&v), s)
		return v
	}
	for _, c := range []struct {
		ours, truth string
		same        bool
	}{
		{`[1]`, `[1]`, true},
		{`[1]`, `[2]`, false},
		{`[1]`, `[1,null]`, false},
		{`[9007199254740993]`, `[9007199254740992]`, false},
		{`[0.10000000149011612]`, `[0.1]`, true},
		{`[0.11]`, `[0.1]`, false},
		{`["a"]`, `["b"]`, false},
		{`[null]`, `["b"]`, false},
		{`[{"@opaque":3}]`, `["b"]`, false},
		{`[{"@class":"a.B","x":1}]`, `[{"@class":"a.C","x":1}]`, false},
		{`[{"@class":"a.B","x":1}]`, `[{"@class":"a.B","x":1,"y":null}]`, false},
		{`[{"@class":"a.B","x":1,"y":2}]`, `[{"@class":"a.B","x":1}]`, false},
		{`[{"@enum":"a.B","name":"X"}]`, `[{"@enum":"a.B","name":"Y"}]`, false},
		{`[{"@date":"2020-01-02"}]`, `[{"@date":"2020-01-03"}]`, false},
		{`[{"@decimal":"1.5"}]`, `[{"@decimal":"1.50"}]`, false},
		{`[{"@map":[[1,"a"],[2,"b"]]}]`, `[{"@map":[[2,"b"],[1,"a"]]}]`, true},
		{`[{"@map":[[1,"a"],[2,"b"]]}]`, `[{"@map":[[2,"a"],[1,"b"]]}]`, false},
		{`[{"@class":"a.B","x":1},{"@ref":"args[0]"}]`, `[{"@class":"a.B","x":1},{"@class":"a.B","x":1}]`, true},
		{`[{"@class":"a.B","x":1},{"@ref":"args[0]"}]`, `[{"@class":"a.B","x":1},{"@class":"a.B","x":2}]`, false},
	} {
		ours, truth := parse(c.ours), parse(c.truth)
		k := comparer{ours: ours, truth: truth, full: true}
		assert.Equal(t, c.same, k.compare("", ours, truth) == "", "%s against %s", c.ours, c.truth)
	}
}
