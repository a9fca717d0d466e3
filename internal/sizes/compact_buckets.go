package sizes

import "slices"

// compactBuckets holds the buckets of a distribution of fewer than tableFrom numbers. A report may have a hundred thousand
// groups with few calls and eight distributions each, so a number takes about one byte.
//
// The buckets are encoded in ascending order of their indexes. Each is the distance from the previous index (the first from
// lowest): one byte if it is below farAway, else farAway and two bytes in big-endian order. The other numbers of a bucket
// follow: up to two as distances of 0, more as repeated and a byte with their count.
type compactBuckets struct {
	encoded *[]byte           // nil for few numbers, as in most distributions of many groups
	pending [maxPending]int16 // indexes of numbers that are not encoded yet
	n       uint16            // length of pending
}

const (
	maxPending = 7
	farAway    = 0xe0
	repeated   = 0xe1
	// lowest is below every index.
	lowest = -1 << 13
)

func (c *compactBuckets) add(index int32) {
	c.pending[c.n] = int16(index)
	if c.n++; c.n == maxPending {
		c.merge(nil)
	}
}

// merge adds buckets, which must be in ascending order, and encodes the pending numbers.
func (c *compactBuckets) merge(more []bucket) {
	var have, sum [tableFrom]bucket
	list := c.sorted(have[:0])
	all := sum[:0]
	for len(list) > 0 || len(more) > 0 {
		switch {
		case len(more) == 0 || len(list) > 0 && list[0].index < more[0].index:
			all, list = append(all, list[0]), list[1:]
		case len(list) == 0 || more[0].index < list[0].index:
			all, more = append(all, more[0]), more[1:]
		default:
			all = append(all, bucket{list[0].index, list[0].count + more[0].count})
			list, more = list[1:], more[1:]
		}
	}
	c.n = 0
	c.encode(all)
}

// encode replaces the buckets by a list in ascending order.
func (c *compactBuckets) encode(list []bucket) {
	var room [3 * tableFrom]byte
	b := room[:0]
	at := int32(lowest)
	for _, k := range list {
		if d := k.index - at; d < farAway {
			b = append(b, byte(d))
		} else {
			b = append(b, farAway, byte(d>>8), byte(d))
		}
		at = k.index
		if k.count > 3 {
			b = append(b, repeated, byte(k.count-1))
		} else {
			for range k.count - 1 {
				b = append(b, 0)
			}
		}
	}
	if c.encoded == nil {
		c.encoded = new([]byte)
	}
	if len(b) > cap(*c.encoded) {
		*c.encoded = make([]byte, 0, capacityFor(len(b)))
	}
	*c.encoded = append((*c.encoded)[:0], b...)
}

// capacityFor returns the capacity for n encoded bytes. A hundred numbers seldom need more than 112.
func capacityFor(n int) int {
	for _, size := range []int{16, 48, 112} {
		if n <= size {
			return size
		}
	}
	return (n + 31) / 32 * 32
}

// sorted appends the buckets, including the pending numbers, to an empty list in ascending order.
func (c *compactBuckets) sorted(list []bucket) []bucket {
	if c.encoded == nil && c.n == 0 {
		return list
	}
	indexes := c.pending // a copy
	pending := indexes[:c.n]
	slices.Sort(pending)
	add := func(index int32, n int64) {
		if last := len(list) - 1; last >= 0 && list[last].index == index {
			list[last].count += n
			return
		}
		list = append(list, bucket{index, n})
	}
	at := int32(lowest)
	var b []byte
	if c.encoded != nil {
		b = *c.encoded
	}
	for len(b) > 0 {
		n := int64(1)
		switch d := int32(b[0]); d {
		case repeated:
			n = int64(b[1])
			b = b[2:]
		case farAway:
			at += int32(b[1])<<8 | int32(b[2])
			b = b[3:]
		default:
			at += d
			b = b[1:]
		}
		for len(pending) > 0 && int32(pending[0]) < at {
			add(int32(pending[0]), 1)
			pending = pending[1:]
		}
		add(at, n)
	}
	for _, w := range pending {
		add(int32(w), 1)
	}
	return list
}
