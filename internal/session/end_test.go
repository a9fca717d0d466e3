package session

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	_ "dubbo-wire/internal/dev/testkit"
)

// endless has any number of packets of 100 bytes ready.
type endless struct{ n int64 }

func (e *endless) Next(p *capture.Packet) error {
	e.n++
	*p = capture.Packet{Number: e.n, WireLen: 100}
	return nil
}

func (e *endless) NextBatch(ps []capture.Packet) (int, error) {
	for i := range ps {
		_ = e.Next(&ps[i])
	}
	return len(ps), nil
}

func (*endless) Close() error { return nil }

// A batch is never larger than what is left, and has one packet where any may be the last one.
func TestEndingInBatches(t *testing.T) {
	for _, c := range []struct {
		name     string
		ending   ending
		one, all int64 // packets of the first batch, and in all
	}{
		{"no limit", ending{}, 32, 320},
		{"packets", ending{packets: 7}, 1, 7},
		{"bytes", ending{bytes: 650}, 1, 7},
		{"calls", ending{single: true}, 1, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := new(endless)
			c.ending.Source = src
			var ps [32]capture.Packet
			for i := range 10 {
				n, err := c.ending.NextBatch(ps[:])
				if err != nil {
					require.ErrorIs(t, err, capture.ErrClosed)
					assert.Zero(t, n)
					break
				}
				if i == 0 {
					assert.EqualValues(t, c.one, n)
				}
			}
			assert.Equal(t, c.all, src.n)
			c.ending.over = true
			_, err := c.ending.NextBatch(ps[:])
			require.ErrorIs(t, err, capture.ErrClosed)
		})
	}
}
