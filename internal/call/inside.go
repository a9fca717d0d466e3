package call

import "dubbo-wire/internal/decode"

// Inside is what was seen of a body that was looked into. It is the message's own until the call is closed, then of those
// who took it.
type Inside struct {
	// Paths are the leaves of the body: their bytes add up to it.
	Paths []decode.PathBytes
	// Attachments are the attachments of the frame, in wire order.
	Attachments []Attachment
	// Body is a copy of a response's body, of those that are to be compressed; nil of others.
	Body []byte
}

// Attachment is an attachment without its value: what it weighs, and a number that is the same for equal values within this
// process.
type Attachment struct {
	Key   string
	Value uint64
	Bytes int // of the body, key and value
}

// Size is about the memory that it takes, in bytes.
func (i *Inside) Size() int { return 32*len(i.Paths) + 40*len(i.Attachments) + cap(i.Body) }
