package http2

import (
	"slices"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/triple"
	"dubbo-wire/internal/rpc"
)

// rowState is what the next byte of a row's direction is.
type rowState uint8

const (
	rowHead   rowState = iota // the row has headers only; a message may follow
	rowPrefix                 // a byte of the prefix of a gRPC message
	rowBody                   // left bytes of the body follow
	rowPlain                  // the body takes all DATA bytes until the direction ends
	rowWhole                  // the body is complete; another message may follow
)

// row is one message while it is being read: a gRPC message or a plain body with the bytes around it. The first row of a
// direction owns its headers, the last one its trailers. The newest row of a direction is held until the next one starts or
// the direction ends.
type row struct {
	// What each packet reads or changes stands together.
	stream    *stream
	side      uint8
	state     rowState
	short     decode.Cause // as in the message
	begun     bool
	need      bool // more of the body is needed than the envelope
	enough    bool // no more of the body is kept
	broken    bool // bytes of the row are missing, besides those of the body
	undecoded bool // a header block could not be decoded
	flagged   bool // the prefix says that the message is compressed
	prefix    [prefixLen]byte
	nprefix   uint8
	left      int
	captured  int        // bytes of the body
	wire      int64      // link bytes
	span      rpc.Span   // the first run of its bytes, of no bytes before them
	spans     []rpc.Span // the later ones
	end       rpc.Origin // the packet that completes the row so far, lastByte the time of the last one
	lastByte  int64

	m         rpc.Message
	err       *decode.Error
	body      []byte // copied bytes of the body
	lent      []byte // the whole body in the current delivery
	fields    []rpc.Header
	first     *head // of the header block before the body, last of the one after it; nil if there is none
	last      *head
	*keptHead // nil if the head is not kept

	older, newer *row // open rows of the side
}

// keptHead is what a row has if its bytes besides those of the body are kept.
type keptHead struct {
	head   []byte
	native native
	// block is the index in native.pieces of the frame that starts the last header block, blockOff its offset in the head.
	block    int
	blockOff int32
	places   []rpc.Piece      // of head and body, if they are needed
	prefixAt [prefixLen]int64 // places of the bytes of the prefix, if they are needed
}

// keepHead makes room for the head.
func (r *row) keepHead() {
	if r.keptHead == nil {
		r.keptHead = new(keptHead)
	}
}

// emptied returns the same memory without its content, nil if it is too much to be kept.
func (k *keptHead) emptied() *keptHead {
	if k == nil || cap(k.head) > maxKept {
		return nil
	}
	*k = keptHead{head: k.head[:0], places: k.places[:0], native: native{pieces: k.native.pieces[:0]}}
	return k
}

// headLen returns the number of bytes of the head that are kept.
func (r *row) headLen() int {
	if r.keptHead == nil {
		return 0
	}
	return len(r.head)
}

// native is the Native of a row's message: the parts of its head, and the operation of its call.
type native struct {
	pieces  headPieces
	request *rpc.Operation
	err     *decode.Error // of the message itself, nil if there is none
}

// Clone implements [rpc.Native].
func (n *native) Clone() rpc.Native {
	return &native{pieces: append(headPieces(nil), n.pieces...), request: n.request, err: n.err}
}

func (l *lane) newRow() *row {
	k := len(l.rows) - 1
	if k < 0 {
		return new(row)
	}
	r := l.rows[k]
	l.rows = l.rows[:k]
	if k := cap(r.body); k > maxKept {
		l.spare -= k
	}
	l.held += cap(r.body) + r.fieldsCost()
	return r
}

// maxRowFields is the number of header fields of a row that are kept: a direction may have any number of header blocks.
const maxRowFields = 4 * maxFields

// fieldsCost is the memory of a row's header fields beyond what streamCost has for them, in bytes.
func (r *row) fieldsCost() int { return max(0, cap(r.fields)-usualFields) * fieldSize }

// addFields adds header fields to a row.
func (l *lane) addFields(r *row, fields []rpc.Header) {
	l.held -= r.fieldsCost()
	r.fields = append(slices.Grow(r.fields, len(fields)), fields...)
	l.held += r.fieldsCost()
}

// usualFields is the number of header fields of which streamCost has the memory, fieldSize the memory of one in bytes.
const (
	usualFields = 32
	fieldSize   = 72
)

// maxFreeRows and maxKept bound what a lane keeps for later rows: rows, and bytes of a body.
const (
	maxFreeRows = 256
	maxKept     = 4 << 10
	// maxSpare is the number of bytes of larger bodies, maxGrown the largest one that gets its memory at once.
	maxSpare = 1 << 20
	maxGrown = 128 << 10
)

func (l *lane) freeRow(r *row) {
	l.release(r)
	if len(l.rows) >= maxFreeRows {
		return
	}
	l.blocks.release(r.first)
	l.blocks.release(r.last)
	body, fields, spans, kept := r.body[:0], r.fields[:0], r.spans[:0], r.emptied()
	*r = row{}
	r.body, r.fields, r.spans, r.keptHead = body, fields, spans, kept
	if k := cap(r.body); k > maxKept {
		if l.spare+k > maxSpare {
			r.body = nil
		} else {
			l.spare += k
		}
	}
	if cap(r.fields) > maxFields {
		r.fields = nil
	}
	l.rows = append(l.rows, r)
}

// setHead gives a head to a row.
func (l *lane) setHead(to **head, h *head) {
	l.blocks.release(*to)
	*to = h.keep()
}

// heads returns what the row's header blocks tell.
func (r *row) heads() (h triple.Heads) {
	if r.first != nil {
		h.First = &r.first.Head
	}
	if r.last != nil {
		h.Last = &r.last.Head
	}
	return h
}

// release gives the memory of the row back to the budget.
func (l *lane) release(r *row) { l.held -= cap(r.body) + r.fieldsCost() }

// addSpan adds n bytes of the stream to the row.
func (r *row) addSpan(from, n int64) {
	last := &r.span
	if k := len(r.spans); k > 0 {
		last = &r.spans[k-1]
	}
	switch {
	case last.To == from && last.Len() > 0:
		last.To += n
	case r.span.Len() == 0:
		r.span = rpc.Span{From: from, To: from + n}
	default:
		r.spans = append(r.spans, rpc.Span{From: from, To: from + n})
	}
}

// has reports whether a byte of the stream is one of the row's, after looking at up to *tries of its runs.
func (r *row) has(pos int64, tries *int) bool {
	for i := len(r.spans) - 1; i >= 0 && *tries > 0; i-- {
		if *tries--; pos >= r.spans[i].From && pos < r.spans[i].To {
			return true
		}
	}
	*tries--
	return pos >= r.span.From && pos < r.span.To
}

// header adds bytes that are not part of the body. b is empty if they are not kept.
func (r *row) header(kind pieceKind, n int, b []byte) {
	r.m.HeaderLen += int32(n)
	if len(b) > 0 {
		r.keepHead()
		r.piece(kind, b)
	}
}

// piece adds a piece to the head.
func (k *keptHead) piece(kind pieceKind, b []byte) {
	if kind == pieceBlock {
		k.block, k.blockOff = len(k.native.pieces), int32(len(k.head))
	}
	k.native.pieces.add(kind, len(b))
	k.head = append(k.head, b...)
}
