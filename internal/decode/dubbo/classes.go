package dubbo

import "dubbo-wire/internal/decode"

// decodeWithClasses reads a body in a serialization that has classes of the application. A body whose objects do not fit these is
// read again without them, so that nothing that is wrong counts as a value.
func (d *Decoder) decodeWithClasses(f *Frame, detail Detail, chosen *serialization, layout Layout) *Message {
	r, writer := chosen.classes, d.dialects.peer.writer(f)
	r.WrittenBy(writer)
	m := d.decodeOnce(f, detail, chosen, layout)
	if m.Kind > Response {
		return m
	}
	whole := f.Short == decode.None && len(f.Body) == f.BodyLen
	err := m.Err
	if at := chosen.r.Offset(); err == nil && whole && at < len(f.Body) {
		err = &decode.Error{Cause: decode.Malformed, At: at, Expected: "the end of the body", Found: "more bytes"}
	}
	switch {
	case err == nil, !whole && (err.Cause == f.Short || f.Short == decode.None && err.Cause == decode.Limit):
		return m // what was read before the body ends early may be right
	case !r.Misfits(err):
		return m
	}
	misfit := decode.NewMisfit(r, writer, err)
	varying, ok := r.(decode.VaryingReader)
	if ok && whole && detail == Values && d.dialects.searched < maxSearched && (m.Kind == Response || m.Names != nil && !m.Names.unnumbered) {
		d.dialects.searched++
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

// maxSearched is the maximum number of bodies of a connection for which it is searched why they do not fit their classes, among those
// that are decoded as they come.
const maxSearched = 8

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
