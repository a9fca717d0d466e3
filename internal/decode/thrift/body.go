package thrift

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// decoder decodes messages and owns the tree of the last one. It is not safe for concurrent use.
type decoder struct {
	r    reader
	tree decode.Tree
}

// decode decodes the body of m to the given detail. h is its header, whose offsets begin with the head of m.
func (d *decoder) decode(m *rpc.Message, h *header, detail rpc.Detail) {
	m.Tree, m.Decoded, m.Err, m.Parts = nil, "", nil, decode.PartBytes{}
	if detail == rpc.Envelope {
		return
	}
	short := m.Short
	if short == decode.None && len(m.Body) < m.BodyLen {
		short = decode.Limit // only the start of the body was kept
	}
	r := &d.r
	r.compact = h.enc == compact
	if detail == rpc.Parts && m.IsWhole() {
		r.Reset(m.Body, short, nil)
		d.read(m, h)
		sum, ok := r.Sum()
		if sum[decode.ClassOverhead] += int32(len(m.Body) - r.Offset()); ok && total(sum) == len(m.Body) {
			m.Parts = sum
			return
		}
	}
	d.tree.Reset()
	d.tree.WithValues = true
	r.Reset(m.Body, short, &d.tree)
	d.read(m, h)
	r.Settle(0)
	m.Tree = &d.tree
	var sums decode.Sums
	sums, m.Err = d.tree.Rest(r.Offset(), decode.Extent{Len: m.BodyLen, Start: len(m.Body), Captured: m.Captured, Short: m.Short}, r.Err())
	if m.Err == nil && !m.Complete { // without a frame nobody knows how much is missing
		m.Err = &decode.Error{Cause: m.Short, At: len(m.Body), Expected: "the rest of the message"}
	}
	m.Decoded, m.Err = d.tree.Decoded(&sums, m.Err, true)
	m.Parts = sums.Parts
	if detail == rpc.Parts {
		m.Tree, m.Decoded = nil, ""
	}
}

func total(sum decode.PartBytes) (n int) {
	for _, of := range sum {
		n += int(of)
	}
	return n
}

// read reads a message.
func (d *decoder) read(m *rpc.Message, h *header) {
	r := &d.r
	d.envelope(h)
	switch h.kind {
	case typeReply:
		d.result()
	case typeException:
		m.ErrorMessage, m.HasErrorText = d.applicationException()
	default:
		d.arguments()
	}
	if r.Tree == nil {
		return
	}
	r.Tree.CloseTo(0)
}

// envelope reads the header of a message.
func (d *decoder) envelope(h *header) {
	r := &d.r
	kind := func(n int) {
		r.Skip(n, "the type of a message")
		r.Leaf(decode.Int, decode.ByField, "messageType", 0).SetNum(int64(h.kind))
	}
	seq := func(n int) {
		r.Skip(n, "the number of a message")
		r.Leaf(decode.Int, decode.ByField, "sequenceId", 0).SetNum(int64(h.seq))
	}
	name := func() {
		if h.multiplexed.to > 0 {
			d.name("path", h.multiplexed, h.headLen)
			r.Skip(1, "a separator")
			r.Role("separator")
		}
		d.name("method", h.method, h.headLen)
	}
	switch h.enc {
	case strict:
		kind(4)
		name()
		seq(4)
	case loose:
		name()
		kind(1)
		seq(4)
	case compact:
		kind(2)
		seq(varintLen(r.Buf[min(2, len(r.Buf)):]))
		name()
	}
}

// varintLen returns the length of a varint at the start of b.
func varintLen(b []byte) int {
	for i, c := range b {
		if c < 0x80 {
			return i + 1
		}
	}
	return len(b) + 1
}

// name reads a name, with its length if that precedes it. headLen is the offset of the message to which that of the name is relative.
func (d *decoder) name(as string, s span, headLen int) {
	r := &d.r
	from, to := s.from-headLen, s.to-headLen
	r.Skip(to-r.Off, "a name")
	if n := r.Leaf(decode.String, decode.ByField, as, 0); n != nil && r.OK() {
		n.Text = r.Name(r.Buf[from:to])
	}
}

// maxUnset is the number of arguments in a row that count as null because the call does not have them.
const maxUnset = 64

// arguments reads the struct of a call. Argument n is field n+1; Thrift does not write those that are null.
func (d *decoder) arguments() {
	r := &d.r
	r.Open(decode.List, decode.ByField, "args", 0)
	next := 0
	for last := int16(0); r.OK(); {
		f := r.field(last)
		if f.typ == tStop {
			r.Role("end")
			break
		}
		last = f.id
		if index := int(f.id) - 1; index >= next && index <= next+maxUnset {
			for at := r.Off - r.Pending(); next < index; next++ {
				r.LeafAt(decode.Null, decode.ByIndex, "", next, at, at)
			}
		}
		r.member(place{index: next}, f)
		next++
	}
	r.Close()
}

// result reads the struct of a reply: the result is field 0, an exception that the method declares another one, and neither is null.
func (d *decoder) result() {
	r := &d.r
	first := true
	for last := int16(0); r.OK(); first = false {
		f := r.field(last)
		last = f.id
		switch {
		case f.typ == tStop:
			r.Role("end")
			return
		case !first:
			r.member(place{label: decode.ByField, name: r.number(f.id)}, f)
		case f.id == 0:
			r.member(place{label: decode.ByField, name: "result"}, f)
		case f.typ == tStruct:
			r.Role("field")
			r.object(place{label: decode.ByField, name: "exception"}, r.number(f.id))
		default:
			r.member(place{label: decode.ByField, name: "exception"}, f)
		}
	}
}

// outcome returns the kind of the result that b, the start of the struct of a reply, has, as Dubbo numbers them, and the field that it
// is. The kind is -1 if b is too short.
func outcome(b []byte, enc encoding) (kind int8, id int16) {
	var r reader
	r.compact = enc == compact
	r.Cursor.Reset(b, decode.Cut)
	switch f := r.field(0); {
	case !r.OK():
		return -1, 0
	case f.typ == tStop:
		return 2, 0
	case f.id == 0:
		return 1, 0
	default:
		return 0, f.id
	}
}

// applicationException reads the struct of an exception of Thrift itself, and returns its text.
func (d *decoder) applicationException() (text string, ok bool) {
	r := &d.r
	for last := int16(0); r.OK(); {
		f := r.field(last)
		last = f.id
		switch {
		case f.typ == tStop:
			r.Role("end")
			return text, ok
		case f.id == 1 && f.typ == tString && !ok:
			r.Role("field")
			b := r.text0()
			if r.FillUTF8(r.Leaf(decode.String, decode.ByField, "errorMessage", 0), b); r.OK() {
				text, ok = decode.UTF8(b), true
			}
		case f.id == 2 && f.typ == tI32:
			r.member(place{label: decode.ByField, name: "errorType"}, f)
		default:
			r.member(place{label: decode.ByField, name: r.number(f.id)}, f)
		}
	}
	return text, ok
}
