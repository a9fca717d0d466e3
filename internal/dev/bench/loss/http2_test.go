package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The experiment with HTTP/2, on a small capture: every cell keeps its promises.
func TestHTTP2Loss(t *testing.T) {
	size, seeds := int64(4e6), 2
	if testing.Short() {
		size, seeds = 2e6, 1
	}
	for i := range http2Bodies {
		k := &http2Bodies[i]
		if k.nested || testing.Short() && i%3 != 0 {
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			s, err := newHTTP2Scene(size, 8)
			require.NoError(t, err)
			k.write(s)
			none, err := measureHTTP2(s, k, &damage{least: 1}, 1)
			require.NoError(t, err)
			assert.Empty(t, none.broken())
			assert.Equal(t, s.frames, none.found, none.first)
			assert.Zero(t, none.damaged+none.unnamed)
			assert.Zero(t, none.skipped)
			for j := range damages {
				d := &damages[j]
				c, err := measureHTTP2(s, k, d, seeds)
				require.NoError(t, err)
				t.Logf("%s: %d of %d found, %d of %d calls without name, %d misnamed, %d damaged, %d invented, %d too long", d.name, c.found, c.undamaged, c.unnamed, c.calls, c.misnamed, c.damaged, c.invented, c.tooLong)
				assert.Empty(t, c.broken(), d.name)
				if d.share != 0.0001 {
					assert.Positive(t, c.damaged, d.name)
				}
			}
		})
	}
}
