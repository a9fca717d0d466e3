package sizes

import (
	"math"
	"slices"
)

// bucketTable holds the buckets of a distribution of many numbers in a hash table with about 16 bytes per used bucket. It
// changes to an array of counts if the used buckets are so close together that the array takes at most twice that.
//
// Numbers are collected in a batch before they are counted. A report has eight distributions per group, and their buckets
// do not stay in the processor's cache from one number to the next; counting in a row lets the cache misses overlap.
//
// Counts have 32 bits. Before their sum exceeds them they are moved to full, which few distributions ever have.
type bucketTable struct {
	pending int32           // length of the batch
	batch   [batchLen]int32 // indexes of buckets
	buckets []slot          // an open-addressed table with 2^n slots; slots with count 0 are free
	used    int             // slots
	dense   []uint32        // instead of the table: the counts from index first on
	first   int32
	sum     uint32 // of the counts in buckets or dense
	full    map[int32]int64
}

// slot is a bucket in the table.
type slot struct {
	index int32
	count uint32
}

const (
	batchLen = 31 // with its length 128 bytes
	// minDense is the number of buckets above which they may be an array.
	minDense = 64
)

// newBucketTable returns a table with space for the number of buckets and half as many more.
func newBucketTable(buckets int) *bucketTable {
	slots := 4
	for 3*slots < 4*(buckets+buckets/2) {
		slots *= 2
	}
	return &bucketTable{buckets: make([]slot, slots)}
}

// flush counts the numbers of the batch.
func (t *bucketTable) flush() {
	batch := t.batch[:t.pending]
	t.pending = 0
	t.reserve(uint32(len(batch)))
	dense, first := t.dense, t.first
	for _, index := range batch {
		if i := int(index) - int(first); uint(i) < uint(len(dense)) {
			dense[i]++
			continue
		}
		if dense == nil {
			if b := t.slot(index); b.count > 0 {
				b.count++
				continue
			}
		}
		t.count(index, 1)
		dense, first = t.dense, t.first
	}
}

// reserve makes room for n more in every bucket: no count can exceed 32 bits if their sum does not.
func (t *bucketTable) reserve(n uint32) {
	if t.sum > math.MaxUint32-n {
		if t.full == nil {
			t.full = make(map[int32]int64)
		}
		for _, b := range t.buckets {
			if b.count > 0 {
				t.full[b.index] += int64(b.count)
			}
		}
		for i, c := range t.dense {
			if c > 0 {
				t.full[t.first+int32(i)] += int64(c)
			}
		}
		clear(t.buckets)
		clear(t.dense)
		t.used, t.sum = 0, 0
	}
	t.sum += n
}

// add adds n to the bucket with that index.
func (t *bucketTable) add(index int32, n int64) {
	for ; n > math.MaxUint32; n -= math.MaxUint32 {
		t.reserve(math.MaxUint32)
		t.count(index, math.MaxUint32)
	}
	t.reserve(uint32(n))
	t.count(index, uint32(n))
}

// count adds n, for which there is room, to the bucket with that index.
func (t *bucketTable) count(index int32, n uint32) {
	if t.dense != nil {
		if i := int(index) - int(t.first); uint(i) < uint(len(t.dense)) {
			t.dense[i] += n
			return
		}
		t.widen(index)
		t.count(index, n)
		return
	}
	if 4*t.used >= 3*len(t.buckets) {
		t.grow()
		t.count(index, n)
		return
	}
	b := t.slot(index)
	if b.count == 0 {
		b.index = index
		t.used++
	}
	b.count += n
}

// slot returns the bucket with that index, or the free slot for it.
func (t *bucketTable) slot(index int32) *slot {
	mask := uint32(len(t.buckets) - 1)
	for i := uint32(index) * 0x9e3779b1 >> 8; ; i++ {
		if b := &t.buckets[i&mask]; b.index == index || b.count == 0 {
			return b
		}
	}
}

// grow makes space for more buckets: a larger table, or an array if that is not much larger.
func (t *bucketTable) grow() {
	old, size := t.buckets, max(2*len(t.buckets), 4)
	if t.used > minDense {
		lo, hi := indexRange(old)
		if fitsDense(int64(hi)-int64(lo)+1, size) {
			t.buckets, t.first, t.dense = nil, lo, make([]uint32, hi-lo+1)
			for _, b := range old {
				if b.count > 0 {
					t.dense[b.index-lo] = b.count
				}
			}
			return
		}
	}
	t.buckets = make([]slot, size)
	for _, b := range old {
		if b.count > 0 {
			*t.slot(b.index) = b
		}
	}
}

// fitsDense reports whether an array of n counts takes at most twice the memory of a table with that many slots.
func fitsDense(n int64, slots int) bool { return 4*n <= 2*8*int64(slots) }

// indexRange returns the least and the greatest index in use.
func indexRange(table []slot) (lo, hi int32) {
	lo, hi = math.MaxInt32, math.MinInt32
	for _, b := range table {
		if b.count > 0 {
			lo, hi = min(lo, b.index), max(hi, b.index)
		}
	}
	return lo, hi
}

// widen extends the array to an index outside of it and by a quarter more for the next ones. If that is too far away, it
// changes the array to a table.
func (t *bucketTable) widen(index int32) {
	lo, hi := int64(t.first), int64(t.first)+int64(len(t.dense))
	spare := int64(len(t.dense)) / 4
	if int64(index) < lo {
		lo = int64(index) - spare
	} else {
		hi = int64(index) + 1 + spare
	}
	used := 0
	for _, n := range t.dense {
		if n > 0 {
			used++
		}
	}
	old, first := t.dense, t.first
	slots := 4
	for 3*slots <= 4*(used+1) {
		slots *= 2
	}
	if fitsDense(hi-lo, 2*slots) {
		t.first, t.dense = int32(lo), make([]uint32, hi-lo)
		copy(t.dense[first-t.first:], old)
		return
	}
	t.buckets, t.dense, t.used = make([]slot, slots), nil, used
	for i, n := range old {
		if n > 0 {
			at := first + int32(i)
			*t.slot(at) = slot{at, n}
		}
	}
}

// sorted returns the buckets in ascending order.
func (t *bucketTable) sorted() []bucket {
	t.flush()
	list := make([]bucket, 0, max(t.used, len(t.dense)/2))
	for i, n := range t.dense {
		if n > 0 {
			list = append(list, bucket{t.first + int32(i), int64(n)})
		}
	}
	for _, b := range t.buckets {
		if b.count > 0 {
			list = append(list, bucket{b.index, int64(b.count)})
		}
	}
	for index, n := range t.full {
		list = append(list, bucket{index, n})
	}
	if t.dense != nil && t.full == nil {
		return list
	}
	slices.SortFunc(list, func(a, b bucket) int { return int(a.index) - int(b.index) })
	if t.full == nil {
		return list
	}
	sums := list[:0]
	for _, b := range list {
		if last := len(sums) - 1; last >= 0 && sums[last].index == b.index {
			sums[last].count += b.count
			continue
		}
		sums = append(sums, b)
	}
	return sums
}
