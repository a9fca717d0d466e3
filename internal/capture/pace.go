package capture

import (
	"slices"
	"time"
)

// pace finds out which way of reading files is the faster one, stretch by stretch. Copying costs more on some processors, waiting for memory on
// others. Small pages of the page cache make mapping slower, and so do threads on other processors: each of these has to be told when pages are unmapped.
type pace struct {
	kept      bool // packets are kept: other goroutines handle them up to keptStretch later
	stretches int  // since the trial began
	again     int  // the number of them after which the next one begins
	cut       bool // the last stretch ended with its file, and is repeated in the next one
	began     time.Time
	from      int64         // position in the file where the stretch began
	loading   time.Duration // the time for mapping its pages
	// took is the time per MiB of the timed stretches: of those that were read, and of those in place, without the mapping of their pages.
	took [2][maxTimed]time.Duration
	// mapping is the mean time per MiB for mapping pages, of about the last maxMapped stretches in place; mapped counts these, up to that many.
	mapping time.Duration
	mapped  int
	inPlace bool
}

const (
	// trialEvery is the number of stretches from one trial to the next. If stretches are short, the second one begins soon: in the first the program has just started.
	trialEvery, secondTrial = 256, 32
	maxTimed, maxMapped     = 4, 16
)

// keptStretch is the stretch in bytes if packets are kept.
var keptStretch int64 = 12 << 20

// stretch returns the bytes of a stretch; what is read at once may add to them.
func (p *pace) stretch() int64 {
	if p.kept {
		return keptStretch
	}
	return 2 << 20
}

// trials returns the number of stretches of a trial. Each way of reading has two in turn, of which the second is timed.
func (p *pace) trials() int {
	if p.kept {
		return 8
	}
	return 4 * maxTimed
}

// next ends a stretch, if one has begun, and returns whether the next one, from a position in the file on, is looked at in place. Some parts of a file have
// smaller pages than others: then mapping them may take longer than it did in the trial.
func (p *pace) next(now time.Time, at int64) bool {
	k := p.stretches
	if k > 0 && !p.cut {
		mib := float64(at-p.from) / (1 << 20)
		took, mapping := time.Duration(float64(now.Sub(p.began))/mib), time.Duration(float64(p.loading)/mib)
		way := p.way(k - 1)
		if way == 1 {
			p.mapped = min(p.mapped+1, maxMapped)
			p.mapping += (mapping - p.mapping) / time.Duration(p.mapped)
		}
		if k <= p.trials() && k%2 == 0 {
			p.took[way][(k-1)/4] = took - mapping
		}
		if k == p.trials() || k > p.trials() && p.inPlace {
			p.inPlace = p.fastest(1)+p.mapping < p.fastest(0)
		}
	}
	if k == p.again {
		k, p.mapped = 0, 0
		if p.again == 0 && !p.kept {
			p.again = secondTrial
		} else {
			p.again = trialEvery
		}
	}
	p.stretches, p.cut, p.began, p.from, p.loading = k+1, false, now, at, 0
	return p.way(k) == 1
}

// nextFile continues with another file.
func (p *pace) nextFile() {
	if p.stretches > 0 && !p.cut {
		p.stretches--
		p.cut = true
	}
}

// way returns 1 if stretch k is looked at in place. In a trial the first, the fourth and so on are read, since all become faster in the beginning.
func (p *pace) way(k int) int {
	switch {
	case k < p.trials():
		return (k/2 + 1) / 2 % 2
	case p.inPlace:
		return 1
	}
	return 0
}

// fastest returns the mean of the faster half of the times of a way: others may have been interrupted.
func (p *pace) fastest(way int) (mean time.Duration) {
	timed := p.took[way]
	faster := timed[:p.trials()/4]
	slices.Sort(faster)
	faster = faster[:len(faster)/2]
	for _, t := range faster {
		mean += t / time.Duration(len(faster))
	}
	return mean
}
