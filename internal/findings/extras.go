package findings

import "dubbo-wire/internal/call"

// extras are the counters of a direction for messages with header fields, compressed bodies or waits for flow control, which only
// some protocols have.
type extras struct {
	// messages counts the complete messages with header fields, headerBytes and allBytes are those of their headers and frames. fields
	// is the bytes that their fields take, plainFields what these would take without compression.
	messages, headerBytes, allBytes, fields, plainFields int64
	headerAt                                             place // the one with the largest header
	largestHeader                                        int32
	// uncompressed is the heads that no compression can make small, those of HTTP/1.
	uncompressed heads
	// compressed counts the messages with a compressed body of which the size without compression is known, larger those that
	// compression made larger: from largerPlain to largerBytes.
	compressed, larger, largerPlain, largerBytes int64
	largerAt                                     place
	encoding                                     string // of the first one that is larger
	// stalled counts the messages that flow control held back, in nanoseconds.
	stalled, stalledTime, longestStall int64
	stalledAt                          place
}

// heads is the complete messages of plain HTTP whose heads are not compressed.
type heads struct {
	messages, headerBytes, bodyBytes int64
	largest                          int32
	at                               place // the one with the largest head
}

func (h *heads) addMessage(m *call.Message) {
	h.messages++
	h.headerBytes += int64(m.HeaderLen)
	h.bodyBytes += int64(m.BodyLen)
	if m.HeaderLen > h.largest {
		h.largest, h.at = m.HeaderLen, placeOf(m)
	}
}

func (h *heads) add(o *heads) {
	if o.largest > h.largest {
		h.largest, h.at = o.largest, o.at
	}
	h.messages += o.messages
	h.headerBytes += o.headerBytes
	h.bodyBytes += o.bodyBytes
}

// hasUncompressedHead reports whether the header fields of a message of plain HTTP are sent as text.
func hasUncompressedHead(m *call.Message) bool {
	return m.Protocol.PlainHTTP && m.FieldsLen == 0 && m.HeaderLen > 0
}

// addExtras counts a message in the direction's extras.
func (d *direction) addExtras(m *call.Message) {
	if d.extras == nil {
		d.extras = new(extras)
	}
	x := d.extras
	if m.FieldsLen > 0 && m.Complete {
		x.messages++
		x.headerBytes += int64(m.HeaderLen)
		x.allBytes += int64(m.FrameLen())
		x.fields += int64(m.FieldsLen)
		x.plainFields += int64(m.FieldsPlainLen)
		if m.HeaderLen > x.largestHeader {
			x.largestHeader, x.headerAt = m.HeaderLen, placeOf(m)
		}
	}
	if hasUncompressedHead(m) && m.Complete {
		x.uncompressed.addMessage(m)
	}
	if m.Encoding != "" && m.Complete && m.UncompressedLen >= 0 {
		x.compressed++
		if m.BodyLen > m.UncompressedLen {
			if x.larger == 0 {
				x.largerAt, x.encoding = placeOf(m), m.Encoding
			}
			x.larger++
			x.largerPlain += int64(m.UncompressedLen)
			x.largerBytes += int64(m.BodyLen)
		}
	}
	if m.Stalled >= leastWait {
		x.stalled++
		x.stalledTime += m.Stalled
		if m.Stalled > x.longestStall {
			x.longestStall, x.stalledAt = m.Stalled, placeOf(m)
		}
	}
}
