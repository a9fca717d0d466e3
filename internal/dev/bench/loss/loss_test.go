package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// The whole experiment, on a small capture: every cell keeps its promises.
func TestLoss(t *testing.T) {
	size, seeds := int64(4e6), 4
	if testing.Short() {
		size, seeds = 2e6, 1
	}
	for i := range bodies {
		k := &bodies[i]
		if testing.Short() && i%3 != 0 {
			continue
		}
		s, err := newScene(size, 8)
		require.NoError(t, err)
		k.write(s)
		none, err := measure(s, k, 0, 1)
		require.NoError(t, err)
		assert.Equal(t, s.frames, none.complete, k.name)
		assert.Zero(t, none.invented+none.damaged)
		assert.Zero(t, none.skipped)
		for _, share := range shares {
			c, err := measure(s, k, share, seeds)
			require.NoError(t, err)
			assert.Empty(t, c.broken(), "%s, %v: %s", k.name, share, c.first)
			assert.Positive(t, c.complete)
			if share >= 0.01 {
				assert.Positive(t, c.damaged)
				assert.Positive(t, c.headersKnown)
			}
		}
	}
}

// What is reported and was not sent, is reported twice, or is missing, breaks a promise.
func TestBrokenPromisesShow(t *testing.T) {
	s, err := newScene(2e5, 2)
	require.NoError(t, err)
	l := s.remove(0, func() float64 { return 1 })
	got := finds{}
	_, err = l.run(got)
	require.NoError(t, err)
	count := func(change func(f []found) []found) *cell {
		c := &cell{body: &bodies[0]}
		c.compare(l, 0, change(append([]found(nil), got[s.streams[0].key]...)))
		return c
	}
	assert.Empty(t, count(func(f []found) []found { return f }).broken())
	assert.Equal(t, "whole frames were not found", count(func(f []found) []found { return f[1:] }).broken())
	assert.Equal(t, "frames were invented", count(func(f []found) []found { return append(f, f[0]) }).broken())
	assert.Equal(t, "frames were invented", count(func(f []found) []found { f[1].start++; return f }).broken())
	assert.Equal(t, "frames were invented", count(func(f []found) []found { f[1].exchange++; return f }).broken())
}
