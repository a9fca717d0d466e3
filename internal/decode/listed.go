package decode

import "slices"

// maxListed is the number of records of a Listed that are compared one by one.
const maxListed = 32

// Listed is records by key, in the order in which they were added. It takes little memory if they are few, and finding them takes little
// time if their keys mostly come in the order of the records. The zero value is empty.
type Listed[K comparable, T any, P interface {
	*T
	Key() K
}] struct {
	All   []T
	index map[K]int32 // of all from maxListed on
	next  int         // the index of the record that mostly comes next
}

// Reserve makes room for n records if there are none.
func (l *Listed[K, T, P]) Reserve(n int) {
	if l.All == nil && n > 0 {
		l.All = make([]T, 0, n)
	}
}

// Find returns the record with a key, nil if there is none. It is valid until the next Add.
func (l *Listed[K, T, P]) Find(k K) *T {
	i := l.next
	if i >= len(l.All) || P(&l.All[i]).Key() != k {
		i = l.indexOf(k)
	}
	if i < 0 {
		return nil
	}
	l.next = i + 1
	return &l.All[i]
}

func (l *Listed[K, T, P]) indexOf(k K) int {
	if l.index != nil {
		if i, ok := l.index[k]; ok {
			return int(i)
		}
		return -1
	}
	for i := range l.All {
		if P(&l.All[i]).Key() == k {
			return i
		}
	}
	return -1
}

// Add adds a record, whose key no other has.
func (l *Listed[K, T, P]) Add(record T) *T {
	n := len(l.All)
	if n == cap(l.All) { // does not double: there are many lists with few records
		l.All = append(make([]T, 0, n+n/4+2), l.All...)
	}
	l.All = append(l.All, record)
	switch {
	case l.index != nil:
		l.index[P(&l.All[n]).Key()] = int32(n)
	case n == maxListed:
		l.index = make(map[K]int32, 2*n)
		for i := range l.All {
			l.index[P(&l.All[i]).Key()] = int32(i)
		}
	}
	l.next = n + 1
	return &l.All[n]
}

// Sorted returns a copy of the records in an order.
func (l *Listed[K, T, P]) Sorted(order func(a, b T) int) []T {
	list := append([]T{}, l.All...)
	slices.SortFunc(list, order)
	return list
}
