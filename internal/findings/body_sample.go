package findings

import (
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// bodySample holds the numbers of the sampled requests or responses of a method.
type bodySample struct {
	messages, bodyBytes int64
	classes             [decode.ClassMissing]int64
	// names is the message with most bytes of names, mostNames their number.
	names     place
	mostNames int32
	// known, knownBytes and attachmentBytes count messages with known attachments, first is the first of them.
	// knownFrames is the bytes of their frames. inHeader is set if some attachments are in headers: then frames are looked at.
	known, knownBytes, knownFrames, attachmentBytes int64
	inHeader                                        bool
	// sent are the header fields that messages have in full.
	sent  map[string]sentField
	http  *httpSample // nil unless messages are of plain HTTP
	first place
	own   *rpc.Attachments // of the protocol of the first
	// missing are the classes without which bytes are opaque, "" is the interface of the service; misfits why bodies do not fit the
	// class path.
	missing map[string]*opaqueBodies
	misfits map[misfit]*opaqueBodies
	fields  *usedFields // nil if none were looked at
	// same are the attachments of the first one that all others have with the same value.
	same []sameAttachment
}

// sameAttachment is an attachment that had the same value in all messages so far.
type sameAttachment struct {
	key   string
	value uint64
	bytes int64 // in all messages
}

const (
	// maxKeys limits the compared attachments of a message.
	maxKeys = 64
	// maxKey limits the bytes of a compared key.
	maxKey = 128
)

// add adds a sampled message.
func (l *bodySample) add(m *call.Message) {
	l.messages++
	l.bodyBytes += int64(m.BodyLen)
	for i, n := range m.Parts {
		l.classes[i] += int64(n)
	}
	if n := m.Parts[decode.ClassNames]; n > l.mostNames {
		l.mostNames, l.names = n, placeOf(m)
	}
	in := m.Sample
	if in == nil {
		return
	}
	for _, f := range in.Sent {
		addSent(&l.sent, f)
	}
	if in.HTTP != nil {
		if l.http == nil {
			l.http = new(httpSample)
		}
		l.http.add(m, in.HTTP)
	}
	switch {
	case in.Misfit != nil:
		addMisfit(&l.misfits, in.Misfit, m)
	case in.Missing != "" || in.NoResultType:
		addOpaque(&l.missing, in.Missing, m)
	}
	if len(in.Attachments) == 0 && m.Parts[decode.ClassOpaque] > 0 {
		return // the opaque bytes may contain some
	}
	l.known++
	l.knownBytes += int64(m.BodyLen)
	l.knownFrames += int64(m.FrameLen())
	l.attachmentBytes += int64(m.Parts[decode.ClassAttachments])
	for i := range in.Attachments {
		if a := &in.Attachments[i]; a.InHeader {
			l.inHeader = true
			l.attachmentBytes += int64(a.Bytes)
		}
	}
	if l.known == 1 {
		l.first, l.own = placeOf(m), &m.Protocol.Attachments
		for _, a := range in.Attachments[:min(len(in.Attachments), maxKeys)] {
			if len(a.Key) <= maxKey {
				l.same = append(l.same, sameAttachment{a.Key, a.Value, int64(a.Bytes)})
			}
		}
		return
	}
	l.same = slices.DeleteFunc(l.same, func(s sameAttachment) bool { return find(in.Attachments, &s) == nil })
	for i := range l.same {
		l.same[i].bytes += int64(find(in.Attachments, &l.same[i]).Bytes)
	}
}

// addSent counts a header field that a message has in full, or a cookie.
func addSent(by *map[string]sentField, f call.SentField) {
	s, ok := (*by)[f.Name]
	if !ok && len(*by) >= maxKeys || len(f.Name) > maxKey {
		return
	}
	if *by == nil {
		*by = make(map[string]sentField)
	}
	s.messages++
	s.bytes += int64(f.Bytes)
	(*by)[f.Name] = s
}

// allBytes returns the bytes that attachments are a part of.
func (l *bodySample) allBytes() int64 {
	if l.inHeader {
		return l.knownFrames
	}
	return l.knownBytes
}

// find returns the attachment with the key and value of s.
func find(list []call.Attachment, s *sameAttachment) *call.Attachment {
	for i := range list[:min(len(list), maxKeys)] {
		if a := &list[i]; a.Key == s.key && a.Value == s.value {
			return a
		}
	}
	return nil
}
