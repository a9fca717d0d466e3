package redact

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/capture/packet"
)

// Late units are what was put, in any order of taking and dropping.
func TestLateUnits(t *testing.T) {
	var l lateUnits
	d := new(direction)
	header := layer{packet.LayerTCP, 34, 54, 154}
	units := map[int32]unit{}
	for n := range 3 * lateChunk {
		u := unit{dir: d, seq: uint32(n), from: 54, to: 154, layers: []layer{{packet.LayerIPv4, 14, 34, 154}, header}, done: true}
		switch n % 4 {
		case 0:
			u.open = []span{{n % 50, 60}}
		case 1:
			u.open = []span{{0, 10}, {20, 30}}
		case 2:
			u.open, u.layers = []span{{0, 1}}, append(u.layers, header)
		}
		i := l.take()
		*l.at(i) = lateUnit{n: 160, seq: u.seq, from: 54, to: 154}
		l.put(i, &u)
		assert.NotZero(t, i)
		assert.NotContains(t, units, i)
		units[i] = u
		if n%3 == 0 {
			for i := range units {
				l.drop(i)
				delete(units, i)
				break
			}
		}
	}
	assert.Equal(t, len(units), l.used)
	for i, was := range units {
		is := l.get(i, d)
		assert.Len(t, is.data, 160)
		assert.Equal(t, len(was.open), len(is.open))
		for k := range was.open {
			assert.Equal(t, was.open[k], is.open[k])
		}
		assert.Equal(t, was.layers, is.layers[:len(was.layers)])
		assert.Equal(t, []any{was.seq, was.from, was.to, was.done, d}, []any{is.seq, is.from, is.to, is.done, is.dir})
		is.open = append(is.open[:0], span{1, 2}, span{3, 4})
		l.put(i, is)
		assert.Equal(t, []span{{1, 2}, {3, 4}}, l.get(i, d).open)
		l.drop(i)
	}
	assert.Zero(t, l.used)
	assert.Empty(t, l.whole)
}
