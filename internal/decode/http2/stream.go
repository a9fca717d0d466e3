package http2

import (
	"hash/maphash"

	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// stream is one stream of a connection: a call.
type stream struct {
	id   uint32
	use  triple.Use
	sure bool // its headers told its use
	// dubbo is set if the headers of the call, or of an earlier one of the connection, have a field that only Dubbo's peers send.
	dubbo bool
	// hessian is set if its bodies are messages of Hessian.
	hessian bool
	// before is set if the stream was opened before the capture.
	before bool
	// closed is set if the stream is no longer open. rows is the number of its rows that were not passed on yet.
	closed bool
	op     *rpc.Operation // nil if it is not known
	// early is set if messages of the response were passed on before the first one of the request.
	early bool
	rows  int32
	verb  verb // of HTTP/1

	older, newer *stream // open streams of the connection
	next         *stream // in the bucket of the table
	halves       [2]half
}

// half is one direction of a stream.
type half struct {
	row     *row // the newest row
	count   int32
	headed  bool // its first headers were read
	ended   bool
	framing framing
	unsure  bool // some of its first headers are not known
	// gaps is the number of gaps of the side when the place in the messages was last known; lost is set if it is not known.
	gaps     uint32
	lost     bool
	encoding string // of its messages, or of its body
	// blocked is when flow control stopped the direction, in nanoseconds since the Unix epoch; 0: it did not. window is what
	// the stream's own window has beyond the initial one, in bytes.
	blocked int64
	window  int64
}

// framing is how the DATA of a direction are to be read.
type framing uint8

const (
	framingUnknown framing = iota
	framingGRPC            // messages with prefixes
	framingPlain           // one body
)

func (h *half) prefixed() bool { return h.framing != framingPlain }

// maxFreeStreams bounds what a lane keeps for later streams. streamCost is the estimated memory of an open stream with its rows, in
// bytes.
const (
	maxFreeStreams = 256
	streamCost     = 2 << 10
)

// find returns an open stream, or nil.
func (c *conn) find(id uint32) *stream {
	if st := c.last; st != nil && st.id == id {
		return st
	}
	st := c.streams.find(id)
	if st != nil {
		c.last = st
	}
	return st
}

// streamTable finds open streams by their numbers.
type streamTable struct {
	buckets []*stream // by hash; a power of two of them
	n       int
}

// minBuckets is the number of buckets that a table begins with.
const minBuckets = 2

// spread spreads numbers over buckets. It differs from run to run, so that nobody can choose numbers that share one.
var spread = maphash.Bytes(seed, nil) | 1

func (t *streamTable) bucket(id uint32) **stream {
	return &t.buckets[uint64(id)*spread>>32&uint64(len(t.buckets)-1)]
}

func (t *streamTable) find(id uint32) *stream {
	if t.n == 0 {
		return nil
	}
	st := *t.bucket(id)
	for st != nil && st.id != id {
		st = st.next
	}
	return st
}

func (t *streamTable) add(st *stream) {
	if t.n++; t.n > len(t.buckets) {
		old := t.buckets
		t.buckets = make([]*stream, max(2*len(old), minBuckets))
		for _, moved := range old {
			for moved != nil {
				rest, b := moved.next, t.bucket(moved.id)
				moved.next, *b = *b, moved
				moved = rest
			}
		}
	}
	b := t.bucket(st.id)
	st.next, *b = *b, st
}

func (t *streamTable) remove(st *stream) {
	b := t.bucket(st.id)
	for *b != st {
		b = &(*b).next
	}
	*b, st.next = st.next, nil
	t.n--
}

// open opens a stream.
func (c *conn) open(id uint32) *stream {
	var st *stream
	if k := len(c.free) - 1; k >= 0 {
		st = c.free[k]
		c.free = c.free[:k]
		*st = stream{}
	} else {
		st = new(stream)
	}
	st.id, st.use = id, triple.GRPC
	if c.used {
		st.use = c.use
	}
	for i := range st.halves {
		if st.halves[i].gaps = c.sides[i].gaps; c.sides[i].state == searching {
			st.halves[i].gaps-- // its start may be among the bytes that are skipped
		}
	}
	c.streams.add(st)
	if st.older = c.newest; st.older == nil {
		c.oldest = st
	} else {
		st.older.newer = st
	}
	c.newest, c.last = st, st
	c.held += streamCost
	for c.held > c.env.MaxBuffers && c.oldest != st {
		c.end(c.oldest)
	}
	return st
}

// close removes a stream without open rows.
func (c *conn) close(st *stream) {
	if st.closed {
		return
	}
	st.closed = true
	for i := range c.sides {
		c.sides[i].leave(st)
	}
	c.streams.remove(st)
	c.held -= streamCost
	if c.last == st {
		c.last = nil
	}
	if st.older == nil {
		c.oldest = st.newer
	} else {
		st.older.newer = st.newer
	}
	if st.newer == nil {
		c.newest = st.older
	} else {
		st.newer.older = st.older
	}
	st.older, st.newer = nil, nil
	c.remember(st.id)
	if st.rows == 0 {
		c.noEarly(st)
		c.freeStream(st)
	}
}

func (l *lane) freeStream(st *stream) {
	if len(l.free) < maxFreeStreams {
		l.free = append(l.free, st)
	}
}

// noEarly is called when the first message of a request was passed on, or will not be.
func (c *conn) noEarly(st *stream) {
	if st.early {
		st.early = false
		c.early--
	}
}

// leave is called when a direction of a stream ends while a frame of it is being read: the rest of the frame belongs to no
// message.
func (s *side) leave(st *stream) {
	if s.stream == st || s.row != nil && s.row.stream == st {
		s.stream, s.row = nil, nil
	}
	if s.exchange == st {
		s.exchange = nil
	}
	if s.blockRow != nil && s.blockRow.stream == st {
		s.blockRow = nil
	}
}

// remember notes the number of a closed stream, if it is needed: without losses all below the highest are closed that are not
// open.
func (c *conn) remember(id uint32) {
	if !c.lossy() {
		return
	}
	if c.closed == nil {
		c.closed = new([closedStreams]uint32)
	}
	c.closed[c.nclosed%closedStreams] = id
	c.nclosed++
}

// closedStreams is the number of closed streams that a connection remembers.
const closedStreams = 64

// lossy reports whether frames may have been missed.
func (c *conn) lossy() bool { return c.joined || c.sides[0].gaps+c.sides[1].gaps > 0 }

// wasClosed reports whether the stream, which is not open, was open before.
func (c *conn) wasClosed(id uint32) bool {
	if !c.lossy() {
		return id <= c.highest[id&1]
	}
	for i := range min(c.nclosed, closedStreams) {
		if c.closed[i] == id {
			return true
		}
	}
	return false
}

// idle reports whether no end can have opened the stream yet, so that it has no DATA.
func (c *conn) idle(id uint32) bool {
	if c == nil || c.client < 0 || c.find(id) != nil {
		return false
	}
	if !c.lossy() {
		return id > c.highest[id&1]
	}
	highest := max(c.highest[0], c.highest[1])
	return highest > 0 && id > highest && id-highest > maxNext
}

// maxNext is how far a number may be above those of a connection with losses.
const maxNext = 1 << 16

// certain reports whether no gap hides bytes of the direction since its place was last known.
func (c *conn) certain(st *stream, side int) bool {
	h := &st.halves[side]
	return !h.lost && h.gaps == c.sides[side].gaps
}

// endHalf is called when a side has sent the last bytes of a stream.
func (c *conn) endHalf(st *stream, side int) {
	h := &st.halves[side]
	if h.ended {
		return
	}
	h.ended = true
	other := &st.halves[1-side]
	isRequest := side == int(c.client)
	switch {
	case isRequest || c.client < 0:
		if h.row != nil {
			c.emit(h.row, true)
		}
		if other.ended && other.row != nil {
			c.emit(other.row, true)
		}
	case h.row == nil:
	case other.ended || other.row == nil || !c.certain(st, 1-side):
		// The end of the request may have been missed.
		c.sides[1-side].leave(st)
		if other.row != nil {
			if !other.ended {
				other.row.broken = true
			}
			c.emit(other.row, true)
			other.ended = true
		}
		c.emit(h.row, true)
	}
	// Else the response is passed on after the request, which has not ended yet.
	missed := !isRequest && other.count == 0 && other.row == nil // the request precedes the capture, or is in a gap
	if (other.ended || missed) && h.row == nil && other.row == nil {
		c.close(st)
	}
}

// end closes a stream whose directions will not be read any further. Each message that is there is passed on.
func (c *conn) end(st *stream) {
	sides := [2]int{0, 1}
	if c.client == 1 {
		sides = [2]int{1, 0}
	}
	for _, side := range sides {
		if r := st.halves[side].row; r != nil {
			if !st.halves[side].ended && (r.state == rowHead || !c.certain(st, side)) {
				r.broken = true // no message came, or its end may have been in the gap
			}
			c.emit(r, st.halves[side].ended)
		}
	}
	c.close(st)
}

// reset closes a stream that a side has reset.
func (c *conn) reset(st *stream, why string, noError bool) {
	request, response := 0, 1
	if c.client == 1 {
		request, response = 1, 0
	}
	answered := st.halves[response].ended
	for i := range st.halves {
		if h := &st.halves[i]; h.row != nil && !h.ended && !c.certain(st, i) {
			h.row.broken = true
		}
	}
	if r := st.halves[request].row; r != nil {
		c.emit(r, true)
	}
	if r := st.halves[response].row; r != nil {
		c.emit(r, answered)
	}
	if c.client >= 0 && !(answered && noError) && !(answered && st.halves[request].ended) {
		c.owner.Abort(request, uint64(st.id), why)
	}
	c.close(st)
}
