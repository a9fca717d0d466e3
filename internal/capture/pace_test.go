package capture

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pacing runs a pace. What is read at once makes a stretch that is read longer than others.
type pacing struct {
	pace
	now time.Time
	at  int64
}

// run handles stretches, a MiB in the time that cost returns, and returns how many were in place.
func (p *pacing) run(stretches int, cost func(inPlace bool) (took, mapping time.Duration)) (chosen int) {
	for range stretches {
		inPlace, mib := p.next(p.now, p.at), int64(2)
		if inPlace {
			chosen++
		} else {
			mib = 3
		}
		took, mapping := cost(inPlace)
		p.now = p.now.Add(time.Duration(mib) * (took + mapping))
		p.loading = time.Duration(mib) * mapping
		p.at += mib << 20
	}
	return chosen
}

// The faster way is chosen, and asked for again later: also while reading becomes faster, and if packets are handled a stretch later than they are read.
func TestPace(t *testing.T) {
	for _, fast := range []bool{false, true} {
		for _, kept := range []bool{false, true} {
			p := pacing{pace: pace{kept: kept}}
			took, before := 500*time.Microsecond, false
			all := secondTrial + trialEvery
			chosen := p.run(all, func(inPlace bool) (time.Duration, time.Duration) {
				handled := inPlace
				if kept {
					handled, before = before, inPlace
				}
				took -= time.Microsecond
				if handled != fast {
					return took + 20*time.Microsecond, 0
				}
				return took, 0
			})
			if !fast {
				chosen = all - chosen
			}
			assert.Equal(t, all-p.trials(), chosen, "fast %t, kept %t", fast, kept)
		}
	}
}

// A file is read where mapping its pages takes longer than it did in the trial, but not because of a few pages.
func TestPaceOfSmallerPages(t *testing.T) {
	var p pacing
	mapping := func(took time.Duration) func(inPlace bool) (time.Duration, time.Duration) {
		return func(inPlace bool) (time.Duration, time.Duration) {
			if inPlace {
				return 400 * time.Microsecond, took
			}
			return 450 * time.Microsecond, 0
		}
	}
	large, small := mapping(5*time.Microsecond), mapping(150*time.Microsecond)
	p.run(secondTrial+p.trials(), large)
	for range 6 {
		require.Equal(t, 10, p.run(1, small)+p.run(9, large))
	}
	require.Equal(t, 5, p.run(50, small))
	p.run(trialEvery-110+p.trials(), large)
	require.Equal(t, 50, p.run(50, large))
}

// Files that follow each other have trials together; the stretch that ends with a file does not count.
func TestPaceOfSeveralFiles(t *testing.T) {
	for _, fast := range []bool{false, true} {
		var p pacing
		cost := func(inPlace bool) (time.Duration, time.Duration) {
			if inPlace == fast {
				return 400 * time.Microsecond, 0
			}
			return 450 * time.Microsecond, 0
		}
		for range p.trials() / 2 {
			p.run(3, cost)
			p.now, p.at = p.now.Add(time.Second), 0 // what was begun has another pace
			p.nextFile()
			p.nextFile() // a file without a stretch
		}
		chosen := p.run(10, cost)
		assert.Equal(t, fast, chosen == 10, "fast %t: %d", fast, chosen)
		assert.Equal(t, fast, chosen > 0, "fast %t: %d", fast, chosen)
	}
}
