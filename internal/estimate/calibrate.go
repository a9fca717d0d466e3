package estimate

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Calibration says how well encoding the observed values again gives the observed bodies.
type Calibration struct {
	Serialization string // observed
	As, Release   string
	// Bodies is the number of bodies that were encoded again; EqualSize and EqualBytes of them have the same size, and the same bytes. Failed
	// counts bodies that could not be encoded.
	Bodies, EqualSize, EqualBytes, Failed int64
	// Bytes is what the bodies take, Off the sum of the differences of their sizes, each without its sign.
	Bytes, Off int64

	mu      sync.Mutex
	methods map[calibrated]*difference
	causes  map[string]int64
	cause   string         // why there is none
	or      []*Calibration // with registered classes
}

// calibrated are the bodies of one direction of a method.
type calibrated struct {
	method   string
	response bool
}

// difference is how bodies differ: the bytes of the observed ones, and of those that were encoded again.
type difference struct{ bodies, differ, observed, again int64 }

// good is the share of bodies with the same size, in percent, from which on sizes are taken as they are.
const good = 99

// body compares an encoded body with the observed one.
func (k *Calibration) body(s *sampled, m *message, response bool, b EncodedBody) {
	if s.method.observed != k.Serialization {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := calibrated{s.method.name, response}
	d := k.methods[key]
	if d == nil {
		d = new(difference)
		k.methods[key] = d
	}
	d.bodies++
	if b.Cause != "" {
		if k.causes == nil {
			k.causes = make(map[string]int64)
		}
		if cause := general(b.Cause); len(k.causes) < maxCauses || k.causes[cause] > 0 {
			k.causes[cause]++
		}
		k.Failed++
		return
	}
	k.Bodies++
	k.Bytes += int64(m.plain)
	if b.Bytes == m.plain {
		k.EqualSize++
		if b.Hash == m.hash {
			k.EqualBytes++
			return
		}
	}
	d.differ++
	d.observed += int64(m.plain)
	d.again += int64(b.Bytes)
	k.Off += int64(math.Abs(float64(b.Bytes - m.plain)))
}

// best returns the variant with most equal bodies.
func (k *Calibration) best() *Calibration {
	for _, o := range k.or {
		if cmp.Or(cmp.Compare(o.EqualBytes, k.EqualBytes), cmp.Compare(o.EqualSize, k.EqualSize)) > 0 {
			k = o
		}
	}
	return k
}

// Good reports whether at least 99 % of the bodies come out in the same size. Nothing is known without bodies.
func (k *Calibration) Good() bool { return k.Bodies > 0 && 100*k.EqualSize >= good*k.Bodies }

// Difference says where bodies differ.
type Difference struct {
	Method                    string
	Response                  bool
	Bodies, Differ            int64
	ObservedBytes, AgainBytes int64 // of those that differ
}

// Differences returns the methods whose bodies differ, those with most bodies first.
func (k *Calibration) Differences() (list []Difference) {
	for key, d := range k.methods {
		if d.differ > 0 {
			list = append(list, Difference{key.method, key.response, d.bodies, d.differ, d.observed, d.again})
		}
	}
	slices.SortFunc(list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(b.Differ, a.Differ), cmp.Compare(a.Method, b.Method), boolCompare(a.Response, b.Response))
	})
	return list
}

// Causes returns why bodies could not be encoded again.
func (k *Calibration) Causes() []Cause { return sortedCauses(k.causes) }

// Why returns why nothing was encoded again, or "".
func (k *Calibration) Why() string { return k.cause }

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
