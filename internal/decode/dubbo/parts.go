package dubbo

import "dubbo-wire/internal/decode"

// count adds up what the bytes of a frame's body are for without a tree, where its serialization can and nothing is
// wrong with the body; else it returns false, what it counted is void, and a tree has to be made.
func (b *body) count() bool {
	m, f := b.m, b.f
	c, ok := b.r.(decode.Counter)
	if !ok {
		return false
	}
	sum := &m.Parts
	switch {
	case m.Kind == Request:
		if !b.countRequest(c) {
			return false
		}
	case m.Kind == Response && f.Status == StatusOK:
		if !b.countResult(c) {
			return false
		}
	case m.Kind == Response:
		b.r.SkipText()
		sum[decode.ClassEnvelope] = int32(b.r.Offset())
	default:
		return false
	}
	if b.r.Err() != nil {
		return false
	}
	sum[decode.ClassOverhead] += int32(len(f.Body) - b.r.Offset()) // behind the last field
	return true
}

func (b *body) countRequest(c decode.Counter) bool {
	m, sum := b.m, &b.m.Parts
	end := 0
	if m.Names = b.reading.skim(b.d, b.f.Body); m.Names != nil {
		end = len(m.Names.raw)
	} else if b.readNames(Envelope); m.Names != nil {
		end = b.r.Offset()
	}
	if m.Names == nil || m.Names.malformed || m.Names.Generic() || m.Err != nil {
		return false
	}
	sum[decode.ClassEnvelope] = int32(end)
	c.Count(end)
	for range m.Names.Descriptors {
		if !c.CountValue(sum) {
			return false
		}
	}
	return c.CountAttachments(sum)
}

func (b *body) countResult(c decode.Counter) bool {
	sum := &b.m.Parts
	k := b.r.ResultKind()
	if b.r.Err() != nil || k > 5 {
		return false
	}
	b.m.ResultKind = int(k)
	sum[decode.ClassEnvelope] = int32(b.r.Offset())
	c.Count(b.r.Offset())
	if k != 2 && k != 5 && !c.CountValue(sum) { // an exception is written as any object
		return false
	}
	return k < 3 || c.CountAttachments(sum)
}
