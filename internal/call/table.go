package call

import "hash/maphash"

// table finds open requests by connection, side and exchange. It is a hash table whose chains run through the
// messages; equal keys are in order of arrival. The hash is random in each process, so a capture cannot force
// collisions.
type table struct {
	buckets []bucket // their number is 2^(64-shift)
	shift   uint     // of the hash
	n       int      // requests
	a, b    uint64   // random factors of the hash
}

type bucket struct{ first, last *Message }

func newTable() table {
	const bits = 8
	s := maphash.MakeSeed()
	return table{
		buckets: make([]bucket, 1<<bits), shift: 64 - bits,
		a: maphash.Bytes(s, []byte{'a'}) | 1, b: maphash.Bytes(s, []byte{'b'}) | 1,
	}
}

func (t *table) bucket(conn *Conn, side int, exchange uint64) *bucket {
	h := exchange*t.a + (2*conn.Key+uint64(side))*t.b
	return &t.buckets[(h^h>>32)*t.a>>t.shift]
}

// add appends m to its bucket and reports whether the table should grow.
func (t *table) add(m *Message) bool {
	b := t.bucket(m.conn, int(m.side), m.Exchange)
	m.next = nil
	if b.first == nil {
		b.first = m
	} else {
		b.last.next = m
	}
	b.last = m
	t.n++
	return t.n > len(t.buckets)
}

// grow doubles the buckets and adds all requests again, from oldest on.
func (t *table) grow(oldest *Message) {
	t.buckets = make([]bucket, 2*len(t.buckets))
	t.shift--
	t.n = 0
	for m := oldest; m != nil; m = m.newer {
		t.add(m)
	}
}

// find returns the oldest request with that key, nil if there is none.
func (t *table) find(conn *Conn, side int, exchange uint64) *Message {
	for m := t.bucket(conn, side, exchange).first; m != nil; m = m.next {
		if m.Exchange == exchange && m.conn == conn && int(m.side) == side {
			return m
		}
	}
	return nil
}

// remove deletes m.
func (t *table) remove(m *Message) {
	b := t.bucket(m.conn, int(m.side), m.Exchange)
	var before *Message
	for x := b.first; x != m; x = x.next {
		before = x
	}
	if before == nil {
		b.first = m.next
	} else {
		before.next = m.next
	}
	if b.last == m {
		b.last = before
	}
	m.next = nil
	t.n--
}
