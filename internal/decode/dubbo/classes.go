package dubbo

import "dubbo-wire/internal/decode"

// decodeWithClasses reads a body in a serialization that has classes of the application. A body whose objects do not fit these is
// read again without them, so that nothing that is wrong counts as a value.
func (d *Decoder) decodeWithClasses(f *Frame, detail Detail, chosen *serialization, layout Layout) *Message {
	r, writer := chosen.classes, d.dialects.peer.writer(f)
	r.WrittenBy(writer)
	numbers, ok := r.(decode.NumberReader)
	if ok {
		numbers.SetNumbers(d.dialects.numbers)
	}
	orders, ordered := r.(decode.OrderReader)
	if ordered {
		orders.SetOrders(d.dialects.orders)
	}
	list, listed := r.(decode.ListReader)
	if listed {
		list.SetRefuted(d.dialects.refuted)
	}
	m := d.decodeOnce(f, detail, chosen, layout)
	if m.Kind > Response {
		return m
	}
	whole := f.Short == decode.None && len(f.Body) == f.BodyLen
	err := d.firstError(m, f, chosen)
	if err != nil && (err.Cause == decode.Malformed || r.Misfits(err)) {
		m = d.decodeAsOther(m, f, detail, chosen, layout)
		err = d.firstError(m, f, chosen)
	}
	if listed {
		d.dialects.refuted = list.Refuted()
	}
	if err == nil && ok {
		d.dialects.numbers = numbers.Numbers()
	}
	if err == nil && ordered {
		d.dialects.orders = orders.Orders()
	}
	switch {
	case err == nil, !whole && (err.Cause == f.Short || f.Short == decode.None && err.Cause == decode.Limit):
		return m // what was read before the body ends early may be right
	case !r.Misfits(err):
		return m
	}
	misfit := decode.NewMisfit(r, writer, err)
	varying, ok := r.(decode.VaryingReader)
	if ok && whole && detail == Values && (m.Kind == Response || m.Names != nil && !m.Names.unnumbered) && d.dialects.maySearch(misfit.Class) {
		misfit.Search(varying, body{m: m, f: f, d: d, r: chosen.r, serialization: chosen, layout: layout}.readsWhole)
	}
	d.distrusted = misfit.Error()
	r.Distrust(d.distrusted)
	m = d.decodeOnce(f, detail, chosen, layout)
	r.Distrust(nil)
	d.distrusted = nil
	m.Err = misfit.In(m.Err)
	return m
}

// firstError returns the first error of a body, which may be that bytes are left.
func (d *Decoder) firstError(m *Message, f *Frame, s *serialization) *decode.Error {
	if at := s.r.Offset(); m.Err == nil && f.Short == decode.None && len(f.Body) == f.BodyLen && at < len(f.Body) {
		return &decode.Error{Cause: decode.Malformed, At: at, Expected: "the end of the body", Found: "more bytes"}
	}
	return m.Err
}

// searches counts the bodies of a connection for which it was searched why they do not fit their classes, by a hash of the class.
type searches [16]uint8

// maxSearched is the maximum of these counts for bodies that are decoded as they come: later ones seldom tell more.
const maxSearched = 2

// maySearch reports whether to search for a body, and counts it.
func (d *Dialects) maySearch(class string) bool {
	h := uint32(2166136261) // FNV-1a, the same in every run
	for i := range len(class) {
		h = (h ^ uint32(class[i])) * 16777619
	}
	n := &d.searched[h%uint32(len(d.searched))]
	if *n >= maxSearched {
		return false
	}
	*n++
	return true
}

// readsWhole reads a complete body again into t, which may be nil. It reports whether that was possible to its end, and how many bytes
// were read. The message has what was read of it before.
func (b body) readsWhole(t *decode.Tree) (ok bool, read int) {
	r := b.r
	r.Reset(b.f.Body, decode.Malformed, t)
	for field := b.f.firstField(); field != NoField; field = field.Next(byte(b.m.ResultKind)) {
		switch field {
		case FieldEnvelope, FieldResultKind, FieldErrorText:
			field.skip(r, b.layout)
		case FieldArguments:
			for i, typ := range b.m.Names.Descriptors {
				r.Value(decode.ByIndex, "", i, typ)
			}
		case FieldThrowable, FieldResult:
			b.result(field)
		case FieldAttachments:
			r.Attachments()
		}
	}
	if faulter, ok := r.(decode.Faulter); ok && faulter.Fault() != nil {
		return false, r.Offset()
	}
	return r.Err() == nil && r.Offset() == len(b.f.Body), r.Offset()
}
