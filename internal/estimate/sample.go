package estimate

import (
	"cmp"
	"container/heap"
	"slices"
)

// All is the sample of a capture's every call.
const All = -1

// Bounds of a sample. Up to sampleCalls calls are taken whole. The values of sampled calls take up to sampleBytes of memory, or
// those of all calls if the user asks for all, allBytes.
const (
	sampleCalls = 10_000
	sampleBytes = 512 << 20
	allBytes    = 2 << 30
	// maxMethods bounds the methods that are sampled one by one; the others are sampled together.
	maxMethods = 1 << 12
)

// method is a stratum of the sample: the calls of one method in one serialization.
type method struct {
	name     string // service/method
	observed string // the serialization of its requests
	index    int32
	calls    int64 // all of them
	kept     kept
}

// kept is the calls with the lowest hashes, as a heap with the greatest hash first.
type kept []*sampled

func (k kept) Len() int           { return len(k) }
func (k kept) Less(i, j int) bool { return k[i].compare(k[j]) > 0 }
func (k kept) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *kept) Push(x any)        { *k = append(*k, x.(*sampled)) }

func (k *kept) Pop() any {
	last := len(*k) - 1
	x := (*k)[last]
	(*k)[last] = nil
	*k = (*k)[:last]
	return x
}

func (s *sampled) compare(o *sampled) int {
	return cmp.Or(cmp.Compare(s.hash, o.hash), cmp.Compare(s.Frame, o.Frame))
}

// sample keeps the same number of calls of each method, those with the lowest hashes of connection and exchange. The result depends
// neither on the order of calls nor on the number of workers.
type sample struct {
	methods map[string]*method
	list    []*method
	// limit is the number of calls of each method. It falls when the sample has more than maxCalls calls or maxBytes bytes; 0: no such bound.
	limit, maxCalls int
	maxBytes        int64
	calls           int
	bytes           int64
	key             []byte
}

// newSample returns an empty sample of n calls of each method; 0: of as many as can be estimated in about a minute.
func newSample(n int) *sample {
	s := &sample{methods: make(map[string]*method), limit: n, maxBytes: sampleBytes}
	switch n {
	case 0:
		s.limit, s.maxCalls = sampleCalls, sampleCalls
	case All:
		s.limit, s.maxBytes = 1<<62, allBytes
	}
	return s
}

// method returns the stratum of a method.
func (s *sample) method(service, name, observed string) *method {
	s.key = append(append(append(append(append(s.key[:0], service...), 0), name...), 0), observed...)
	m := s.methods[string(s.key)]
	if m != nil {
		return m
	}
	if len(s.list) >= maxMethods {
		service, name = "", ""
		s.key = append(append(s.key[:0], 0, 0), observed...)
		if m = s.methods[string(s.key)]; m != nil {
			return m
		}
	}
	m = &method{name: service + "/" + name, observed: observed, index: int32(len(s.list))}
	s.methods[string(s.key)] = m
	s.list = append(s.list, m)
	return m
}

// add counts a call of the method and keeps it if its hash is low enough.
func (s *sample) add(m *method, c *sampled) {
	m.calls++
	if len(m.kept) >= s.limit && c.compare(m.kept[0]) >= 0 {
		return
	}
	heap.Push(&m.kept, c)
	s.calls++
	s.bytes += c.memory()
	if len(m.kept) > s.limit {
		s.drop(m)
	}
	for s.maxCalls > 0 && s.calls > s.maxCalls && s.limit > 1 || s.bytes > s.maxBytes && s.limit > 1 {
		s.shrink()
	}
}

func (s *sample) drop(m *method) {
	c := heap.Pop(&m.kept).(*sampled)
	s.calls--
	s.bytes -= c.memory()
}

// shrink lowers the limit to the greatest one that drops calls.
func (s *sample) shrink() {
	most := 0
	for _, m := range s.list {
		most = max(most, len(m.kept))
	}
	s.limit = min(s.limit, most) - 1
	if s.bytes > s.maxBytes {
		s.limit -= s.limit / 16
	}
	s.limit = max(s.limit, 1)
	for _, m := range s.list {
		for len(m.kept) > s.limit {
			s.drop(m)
		}
	}
}

// take returns the sampled calls in the order of their hashes, so that the first ones are a sample, too.
func (s *sample) take() []*sampled {
	list := make([]*sampled, 0, s.calls)
	for _, m := range s.list {
		list = append(list, m.kept...)
		m.kept = nil
	}
	slices.SortFunc(list, (*sampled).compare)
	return list
}

// mix spreads the bits of a number over all 64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashOf returns the hash of a call by which it is sampled.
func hashOf(connection uint64, side int, exchange uint64) uint64 {
	return mix(mix(mix(connection)^uint64(side)) ^ exchange)
}
