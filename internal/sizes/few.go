package sizes

import "slices"

// few is the buckets of a distribution of less than manyFrom numbers: a report may have a hundred thousand groups of few
// calls, with eight distributions each. A number takes a byte, with seldom more than a tenth of that beside it.
//
// The buckets are coded in the order of their indexes, each as the distance from the one before it (the first from
// lowest), in one byte below 0xe0, else as farAway and two bytes, the high one first. What follows is how many numbers more
// than one it has: each is a distance of 0, or from four on all are repeated and a byte.
type few struct {
	coded []byte
	wait  [fewWait]int16 // indexes of numbers that are not coded yet
	n     uint16
}

const (
	fewWait  = 7
	farAway  = 0xe0
	repeated = 0xe1
	// lowest is below every index.
	lowest = -1 << 13
)

func (f *few) add(index int32) {
	f.wait[f.n] = int16(index)
	if f.n++; f.n == fewWait {
		f.merge(nil)
	}
}

// merge adds buckets in the order of their indexes, and codes those that wait.
func (f *few) merge(more []bucket) {
	var have, sum [manyFrom]bucket
	list := f.sorted(have[:0])
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
	f.n = 0
	f.code(all)
}

// code keeps buckets that are in the order of their indexes.
func (f *few) code(list []bucket) {
	var room [3 * manyFrom]byte
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
	if len(b) > cap(f.coded) {
		f.coded = make([]byte, 0, roomFor(len(b)))
	}
	f.coded = append(f.coded[:0], b...)
}

// roomFor is how much memory a code of n bytes gets: a hundred numbers seldom need more than 112.
func roomFor(n int) int {
	for _, room := range []int{16, 48, 112} {
		if n <= room {
			return room
		}
	}
	return (n + 31) / 32 * 32
}

// sorted appends the buckets, with those that wait, to an empty list.
func (f *few) sorted(list []bucket) []bucket {
	if f.coded == nil && f.n == 0 {
		return list
	}
	wait := f.wait
	waiting := wait[:f.n]
	slices.Sort(waiting)
	add := func(index int32, n uint32) {
		if last := len(list) - 1; last >= 0 && list[last].index == index {
			list[last].count += n
			return
		}
		list = append(list, bucket{index, n})
	}
	at := int32(lowest)
	for b := f.coded; len(b) > 0; {
		n := uint32(1)
		switch d := int32(b[0]); d {
		case repeated:
			n = uint32(b[1])
			b = b[2:]
		case farAway:
			at += int32(b[1])<<8 | int32(b[2])
			b = b[3:]
		default:
			at += d
			b = b[1:]
		}
		for len(waiting) > 0 && int32(waiting[0]) < at {
			add(int32(waiting[0]), 1)
			waiting = waiting[1:]
		}
		add(at, n)
	}
	for _, w := range waiting {
		add(int32(w), 1)
	}
	return list
}
