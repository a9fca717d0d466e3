package dubbo

import "bytes"

// What follows decides only where no frame end and no start of the stream says that a header stands here: after a gap,
// after rubbish, in a connection joined midway. At a known place the magic and a length of 0 or more suffice.

// legal reports whether a header found by searching can be one: no status on a request, a known status and no two-way bit on
// a response, a short event, a length up to maxBody. Its serialization may be a user's own, of any id.
func (h *Header) legal(maxBody int) bool {
	if h.BodyLen < 0 || h.BodyLen > maxBody {
		return false
	}
	if h.Event() && (h.BodyLen > 256 || h.BodyLen == 0 && emptyEvents&(1<<h.SerializationID()) == 0) {
		return false
	}
	if h.Request() {
		return h.Status == 0
	}
	if h.Flags&flagTwoWay != 0 || StatusText(h.Status) == "" {
		return false
	}
	return !h.Event() || h.Status == StatusOK
}

// knownIDs has a bit for each serialization id that any Dubbo release or published extension uses.
const knownIDs uint32 = 0x3ffe | 1<<16 | 1<<18 | 1<<21 | 1<<22 | 1<<23 | 1<<25 | 1<<27 | 1<<28 | 1<<29 | 1<<31

// emptyEvents has a bit for each serialization whose heartbeats may be empty: those that cannot write null, and those that
// are not known.
const emptyEvents uint32 = ^knownIDs | 1<<11 | 1<<13 | 1<<21 | 1<<22 | 1<<25 | 1<<29 | 1<<31

// unknown reports whether no release and no published extension uses the header's serialization id.
func (h *Header) unknown() bool { return knownIDs&(1<<h.SerializationID()) == 0 }

// startLen is how many bytes of a body startsLike wants to see.
const startLen = 16

// startsLike reports whether a body can start with b (its first startLen bytes, or all of it), given its header. A
// request starts with Dubbo's version ("2.0.2", "2.5.3"): digits and dots, in the encoding of the serialization; a
// response of status OK with a result kind from 0 to 5.
func (h *Header) startsLike(b []byte) bool {
	switch {
	case h.Event():
		return true // judged by its length
	case len(b) == 0:
		return false // only events may be empty
	case h.Request():
		return startsRequest(h.SerializationID(), b)
	case h.Status == StatusOK:
		return startsResult(h.SerializationID(), b)
	}
	return startsText(h.SerializationID(), b)
}

// startsOther reports whether a request's body starts as that of any serialization: the header may name another one than
// wrote it, and that of a user's own is not known.
func startsOther(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	for _, id := range [...]uint8{1, 2, 3, 6, 8, 10, 11, 13, 21, 23, 27, 28} { // the others start as one of these
		if startsRequest(id, b) {
			return true
		}
	}
	return false
}

// versionAt reports whether b[i:] starts like a version: a digit, then a digit or a dot (the last byte may have bit 7
// set, which ends a Kryo string).
func versionAt(b []byte, i int) bool {
	if i+1 >= len(b) {
		return false
	}
	c, d := b[i], b[i+1]&0x7f
	return c >= '0' && c <= '9' && (d == '.' || d >= '0' && d <= '9')
}

func startsRequest(id uint8, b []byte) bool {
	switch id {
	case 1:
		return len(b) > 2 && b[0] == 0x83 && b[1] > 0x80 && versionAt(b, 2)
	case 2, 9:
		return b[0] > 0 && b[0] < 0x20 && versionAt(b, 1)
	case 10: // native-hessian, or protostuff in 2.7.0 and 2.7.1
		return b[0] > 0 && b[0] < 0x20 && versionAt(b, 1) || bytes.HasPrefix(b, zeros3) && versionAt(b, 4)
	case 3, 4, 7:
		return bytes.HasPrefix(b, javaStream)
	case 5, 16, 18:
		return b[0] == '"' && versionAt(b, 1)
	case 21: // lines of JSON, or in 2.7.5 protobuf
		return b[0] == '"' && versionAt(b, 1) || len(b) > 3 && b[1] == 0x0a && versionAt(b, 3)
	case 6: // lines of JSON, or JSON behind a 4-byte length
		return b[0] == '"' && versionAt(b, 1) || len(b) > 5 && bytes.HasPrefix(b, zeros3) && b[4] == '"' && versionAt(b, 5)
	case 8, 25:
		return versionAt(b, 0)
	case 11:
		return b[0] > 0 && b[0] < 0x40 && b[0]&1 == 0 && versionAt(b, 1)
	case 12:
		return bytes.HasPrefix(b, zeros3) && versionAt(b, 4)
	case 13:
		return len(b) > 3 && b[0] == 0x1c && b[1] == 0x18 && versionAt(b, 3)
	case 22:
		return len(b) > 3 && b[1] == 0x0a && versionAt(b, 3)
	case 23:
		return len(b) > 5 && bytes.HasPrefix(b, zeros3) && versionAt(b, 5)
	case 28, 29: // length 4, little-endian; 1; a string with its coder or without
		return len(b) > 7 && b[1] == 0 && b[2] == 0 && b[3] == 0 && b[4] == 1 && (versionAt(b, 6) || b[5] <= 1 && versionAt(b, 7))
	case 27:
		return b[0] > 0xa0 && b[0] < 0xc0 && versionAt(b, 1)
	}
	return true
}

var (
	zeros3     = []byte{0, 0, 0}
	javaStream = []byte{0xac, 0xed, 0x00, 0x05}
)

func startsResult(id uint8, b []byte) bool {
	switch id {
	case 1:
		return b[0] >= 0x19 && b[0] <= 0x1e
	case 2, 10:
		return b[0] >= 0x90 && b[0] <= 0x95 || id == 10 && b[0] <= 5
	case 3, 4, 7:
		return bytes.HasPrefix(b, javaStream)
	case 5, 16, 18:
		return digitLine(b)
	case 21:
		return digitLine(b) || protobufKind(b)
	case 22:
		return protobufKind(b)
	case 6:
		return digitLine(b) || bytes.HasPrefix(b, zeros3)
	case 8, 9, 11, 12, 25, 27, 28, 29:
		return b[0] <= 5
	case 13:
		return b[0]&0xf0 == 0x10
	case 23:
		return bytes.HasPrefix(b, zeros3)
	}
	return true
}

// digitLine is a result kind as JSON, in a line.
func digitLine(b []byte) bool {
	return b[0] >= '0' && b[0] <= '5' && len(b) > 1 && (b[1] == '\n' || b[1] == '\r')
}

// protobufKind is a result kind as an Int32Value behind its length: nothing for 0.
func protobufKind(b []byte) bool {
	return b[0] == 0 || len(b) > 2 && b[0] == 2 && b[1] == 8 && b[2] <= 5
}

// startsText judges the error text of a response whose status is not OK: printable, behind the string's length.
func startsText(id uint8, b []byte) bool {
	switch id {
	case 3, 4, 7:
		return bytes.HasPrefix(b, javaStream)
	}
	printable := 0
	for _, c := range b {
		if c >= 0x20 && c != 0x7f {
			printable++
		}
	}
	return 2*printable >= len(b)
}

func nearly(a, b int64) bool { return a-b <= maxIDStep && b-a <= maxIDStep }

// flagsFit is a first, quick look at four bytes that begin with the magic: without it no header there is legal.
func flagsFit(b []byte) bool {
	return (b[3] == 0) == (b[2]&flagRequest != 0)
}
