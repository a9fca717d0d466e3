package record

import "time"

// Period is the time of one file of a series (-G).
type Period struct {
	Every time.Duration // 0: it never ends
	Begin int64         // nanoseconds since the Unix epoch
}

// Over reports whether the period is over at a time. If the clock was set back by more than a period, the period continues from that time.
func (p *Period) Over(at int64) bool {
	switch {
	case p.Every == 0:
		return false
	case at >= p.Begin+int64(p.Every):
		return true
	case at < p.Begin-int64(p.Every):
		p.Begin = at
	}
	return false
}

// Next begins the period with that time.
func (p *Period) Next(at int64) { p.Begin += (at - p.Begin) / int64(p.Every) * int64(p.Every) }

// Name returns the name of the file of the period: pattern with its conversions of strftime(3), in UTC or local time.
func (p *Period) Name(pattern string, local bool) string {
	if p.Every == 0 {
		return pattern
	}
	t := time.Unix(0, p.Begin).UTC()
	if local {
		t = t.Local()
	}
	name, _ := formatTime(pattern, t)
	return name
}
