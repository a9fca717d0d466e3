package decode

import "hash/maphash"

// Columns is records by key, in order: Values[i] is that of Keys[i]. Keys may be those of other records, too, and must not be changed.
type Columns[K comparable, V any] struct {
	Keys   []K
	Values []V
}

// KeyCache finds keys that other records have: bodies with objects of one class mostly have the same paths, in many methods. The zero
// value is empty; it is not safe for concurrent use.
type KeyCache[K comparable] struct{ recent [1 << keyCacheBits][]K }

const keyCacheBits = 8

var keySeed = maphash.MakeSeed()

// Of returns n keys. They are not copied if other records had the same ones lately.
func (c *KeyCache[K]) Of(n int, key func(i int) K) []K {
	const prime = 0x9e3779b97f4a7c15
	hash := uint64(n)
	for i := range n {
		hash = (hash ^ maphash.Comparable(keySeed, key(i))) * prime
	}
	at := &c.recent[hash>>(64-keyCacheBits)]
	same := len(*at) == n
	for i := 0; same && i < n; i++ {
		same = (*at)[i] == key(i)
	}
	if !same {
		*at = make([]K, n)
		for i := range *at {
			(*at)[i] = key(i)
		}
	}
	return *at
}

// maxListed is the number of records of a Listed that are compared one by one.
const maxListed = 32

// Listed is records by key, in the order in which they were added. It takes little memory if they are few, and finding them takes little
// time if their keys mostly come in the order of the records. The zero value is empty.
type Listed[K comparable, V any] struct {
	Columns[K, V]
	// index is an open-addressed table of 2^n places with 1 + the index of a record, 0 where free. It is nil until it is needed.
	index []int32
	next  int // the index of the record that mostly comes next
}

// Find returns the value of a key, nil if there is none. It is valid until the next Add.
func (l *Listed[K, V]) Find(k K) *V {
	i := l.next
	if i >= len(l.Keys) || l.Keys[i] != k {
		i = l.indexOf(k)
	}
	if i < 0 {
		return nil
	}
	l.next = i + 1
	return &l.Values[i]
}

func (l *Listed[K, V]) indexOf(k K) int {
	if len(l.Keys) <= maxListed {
		for i := range l.Keys {
			if l.Keys[i] == k {
				return i
			}
		}
		return -1
	}
	if l.index == nil {
		l.makeIndex()
	}
	return int(*l.place(k)) - 1
}

// place returns the place of a key in the index, or the one for it.
func (l *Listed[K, V]) place(k K) *int32 {
	mask := uint64(len(l.index) - 1)
	for h := maphash.Comparable(keySeed, k); ; h++ {
		if at := &l.index[h&mask]; *at == 0 || l.Keys[*at-1] == k {
			return at
		}
	}
}

// makeIndex makes the index of all records.
func (l *Listed[K, V]) makeIndex() {
	places := 2 * maxListed
	for places < 2*len(l.Keys) {
		places *= 2
	}
	l.index = make([]int32, places)
	for i := range l.Keys {
		*l.place(l.Keys[i]) = int32(i) + 1
	}
}

// Add adds a record, whose key no other has.
func (l *Listed[K, V]) Add(k K, v V) *V {
	n := len(l.Keys)
	l.Keys, l.Values = grown(l.Keys, k), grown(l.Values, v)
	switch {
	case l.index == nil:
	case 4*n >= 3*len(l.index):
		l.makeIndex()
	default:
		*l.place(k) = int32(n) + 1
	}
	l.next = n + 1
	return &l.Values[n]
}

// grown appends to a list. Its capacity does not double: there are many lists with few records.
func grown[T any](list []T, one T) []T {
	if n := len(list); n == cap(list) {
		list = append(make([]T, 0, n+n/4+2), list...)
	}
	return append(list, one)
}
