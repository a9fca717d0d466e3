package call

import (
	"hash/maphash"
	"unsafe"

	"dubbo-wire/internal/prefetch"
)

// table finds open requests by connection, side and exchange. It is a hash table whose chains run through the
// messages; equal keys are in order of arrival. The hash is random in each process, so a capture cannot force
// collisions.
type table struct {
	buckets []*Message // the last request of each chain, whose next is the first one; their number is 2^(64-shift)
	shift   uint       // of the hash
	n       int        // requests
	a, b    uint64     // random factors of the hash
}

func newTable() table {
	const bits = 8
	s := maphash.MakeSeed()
	return table{
		buckets: make([]*Message, 1<<bits), shift: 64 - bits,
		a: maphash.Bytes(s, []byte{'a'}) | 1, b: maphash.Bytes(s, []byte{'b'}) | 1,
	}
}

func (t *table) bucket(conn *Conn, side int, exchange uint64) **Message {
	h := exchange*t.a + (2*conn.Key+uint64(side))*t.b
	return &t.buckets[(h^h>>32)*t.a>>t.shift]
}

// preload begins to load the bucket of a key, and returns it.
func (t *table) preload(conn *Conn, side int, exchange uint64) **Message {
	b := t.bucket(conn, side, exchange)
	prefetch.Write(unsafe.Pointer(b), unsafe.Sizeof(*b))
	return b
}

// add appends m to its bucket and reports whether the table should grow.
func (t *table) add(m *Message) bool {
	b := t.bucket(m.conn, int(m.side), m.Exchange)
	if last := *b; last == nil {
		m.next = m
	} else {
		m.next, last.next = last.next, m
	}
	*b = m
	t.n++
	return t.n > len(t.buckets)
}

// grow doubles the buckets and adds all requests again, from oldest on.
func (t *table) grow(oldest *Message) {
	t.buckets = make([]*Message, 2*len(t.buckets))
	t.shift--
	t.n = 0
	for m := oldest; m != nil; m = m.newer {
		t.add(m)
	}
}

// find returns the oldest request with that key, nil if there is none.
func (t *table) find(conn *Conn, side int, exchange uint64) *Message {
	last := *t.bucket(conn, side, exchange)
	if last == nil {
		return nil
	}
	for m := last.next; ; m = m.next {
		switch {
		case m.Exchange == exchange && m.conn == conn && int(m.side) == side:
			return m
		case m == last:
			return nil
		}
	}
}

// remove deletes m.
func (t *table) remove(m *Message) {
	b := t.bucket(m.conn, int(m.side), m.Exchange)
	before := *b
	for before.next != m {
		before = before.next
	}
	switch {
	case before == m: // the only one
		*b = nil
	case *b == m:
		*b = before
	}
	before.next, m.next = m.next, nil
	t.n--
}
