package sizes

import (
	"math"
	"slices"
)

// many is the buckets of a distribution of many numbers, kept sparse: about 16 bytes a bucket that has something in it.
// Where the buckets in use lie so close that an array of all between them takes no more than twice that, it is one.
//
// Numbers wait in a batch: a report has eight distributions a group, whose buckets do not stay in a processor's cache
// from one number to the next, and counted in a row the misses pass at the same time.
type many struct {
	waiting int32
	index   [batchLen]int32 // of the buckets of numbers that wait
	buckets []bucket        // an open-addressed table, of 2^n slots; those with count 0 are free
	used    int             // slots
	dense   []uint32        // instead of the table: the counts from index first on
	first   int32
}

const (
	batchLen = 31 // with their number 128 bytes
	// denseFrom is from how many buckets on they may be an array.
	denseFrom = 64
)

// newMany has room for so many buckets, and half as many more.
func newMany(buckets int) *many {
	slots := 4
	for 3*slots < 4*(buckets+buckets/2) {
		slots *= 2
	}
	return &many{buckets: make([]bucket, slots)}
}

// flush counts the numbers that wait.
func (m *many) flush() {
	waiting := m.index[:m.waiting]
	m.waiting = 0
	dense, first := m.dense, m.first
	for _, index := range waiting {
		if i := int(index) - int(first); uint(i) < uint(len(dense)) {
			dense[i]++
			continue
		}
		m.count(index, 1)
		dense, first = m.dense, m.first
	}
}

// count adds n to the bucket with that index.
func (m *many) count(index int32, n uint32) {
	if m.dense != nil {
		if i := int(index) - int(m.first); uint(i) < uint(len(m.dense)) {
			m.dense[i] += n
			return
		}
		m.widen(index)
		m.count(index, n)
		return
	}
	if 4*m.used >= 3*len(m.buckets) {
		m.grow()
		m.count(index, n)
		return
	}
	b := m.slot(index)
	if b.count == 0 {
		b.index = index
		m.used++
	}
	b.count += n
}

// slot finds the bucket with that index, or the free slot for it.
func (m *many) slot(index int32) *bucket {
	mask := uint32(len(m.buckets) - 1)
	for i := uint32(index) * 0x9e3779b1 >> 8; ; i++ {
		if b := &m.buckets[i&mask]; b.index == index || b.count == 0 {
			return b
		}
	}
}

// grow makes room for more buckets: a larger table, or an array where that is not much larger.
func (m *many) grow() {
	old, size := m.buckets, max(2*len(m.buckets), 4)
	if m.used > denseFrom {
		lo, hi := m.ends(old)
		if fitsDense(int64(hi)-int64(lo)+1, size) {
			m.buckets, m.first, m.dense = nil, lo, make([]uint32, hi-lo+1)
			for _, b := range old {
				if b.count > 0 {
					m.dense[b.index-lo] = b.count
				}
			}
			return
		}
	}
	m.buckets = make([]bucket, size)
	for _, b := range old {
		if b.count > 0 {
			*m.slot(b.index) = b
		}
	}
}

// fitsDense reports whether an array of n counts takes no more than twice a table of so many slots.
func fitsDense(n int64, slots int) bool { return 4*n <= 2*8*int64(slots) }

// ends returns the least and the greatest index in use.
func (m *many) ends(table []bucket) (lo, hi int32) {
	lo, hi = math.MaxInt32, math.MinInt32
	for _, b := range table {
		if b.count > 0 {
			lo, hi = min(lo, b.index), max(hi, b.index)
		}
	}
	return lo, hi
}

// widen makes the array reach an index outside of it, with a quarter more than that for the next ones, or a table of it
// where that would be too far.
func (m *many) widen(index int32) {
	lo, hi := int64(m.first), int64(m.first)+int64(len(m.dense))
	spare := int64(len(m.dense)) / 4
	if int64(index) < lo {
		lo = int64(index) - spare
	} else {
		hi = int64(index) + 1 + spare
	}
	used := 0
	for _, n := range m.dense {
		if n > 0 {
			used++
		}
	}
	old, first := m.dense, m.first
	slots := 4
	for 3*slots <= 4*(used+1) {
		slots *= 2
	}
	if fitsDense(hi-lo, 2*slots) {
		m.first, m.dense = int32(lo), make([]uint32, hi-lo)
		copy(m.dense[first-m.first:], old)
		return
	}
	m.buckets, m.dense, m.used = make([]bucket, slots), nil, used
	for i, n := range old {
		if n > 0 {
			at := first + int32(i)
			*m.slot(at) = bucket{at, n}
		}
	}
}

// sorted returns the buckets in the order of their values.
func (m *many) sorted() []bucket {
	m.flush()
	if m.dense != nil {
		list := make([]bucket, 0, len(m.dense)/2)
		for i, n := range m.dense {
			if n > 0 {
				list = append(list, bucket{m.first + int32(i), n})
			}
		}
		return list
	}
	list := make([]bucket, 0, m.used)
	for _, b := range m.buckets {
		if b.count > 0 {
			list = append(list, b)
		}
	}
	slices.SortFunc(list, func(a, b bucket) int { return int(a.index) - int(b.index) })
	return list
}
