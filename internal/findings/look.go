package findings

import (
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/decode"
)

// look is what was seen inside the requests or the responses of a method that were looked into.
type look struct {
	messages, bodyBytes int64
	classes             [decode.ClassMissing]int64
	// names is the message with most bytes of names.
	names     place
	mostNames int32
	// Of messages whose attachments are known:
	known, knownBytes, attachmentBytes int64
	first                              place
	// same are the attachments of the first of them that all the others have with the same value; keys how many the first had.
	same []sameAttachment
	keys int
}

// sameAttachment is an attachment that had one value so far.
type sameAttachment struct {
	key   string
	value uint64
	bytes int64 // in all messages
}

const (
	// maxKeys is how many attachments of a message are compared.
	maxKeys = 64
	// maxKey is how many bytes of a key are kept.
	maxKey = 128
)

// add adds what was seen in a message.
func (l *look) add(m *call.Message) {
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
	if len(in.Attachments) == 0 && m.Parts[decode.ClassOpaque] > 0 {
		return // they may be among what could not be read
	}
	l.known++
	l.knownBytes += int64(m.BodyLen)
	l.attachmentBytes += int64(m.Parts[decode.ClassAttachments])
	if l.known == 1 {
		l.first, l.keys = placeOf(m), len(in.Attachments)
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

// find returns the attachment with that key and value.
func find(list []call.Attachment, s *sameAttachment) *call.Attachment {
	for i := range list[:min(len(list), maxKeys)] {
		if a := &list[i]; a.Key == s.key && a.Value == s.value {
			return a
		}
	}
	return nil
}
