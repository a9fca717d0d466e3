package decode

// Starts says how the bodies of a serialization start. Frames are searched by it after a loss, so bytes that are no
// start of a body should seldom pass. Each function is given the first [StartLen] bytes of a body, or all of a shorter
// one, and at least one byte.
type Starts struct {
	// Request accepts the start of a request: Dubbo's version, as "2.0.2". nil accepts anything.
	Request func(b []byte) bool
	// Result accepts the start of a response of status OK: a result kind from 0 to 5. nil accepts anything.
	Result func(b []byte) bool
	// Text accepts the start of a response of another status: a text. nil accepts bytes that are mostly printable.
	Text func(b []byte) bool
}

// StartLen is how many bytes of a body the functions of [Starts] are given.
const StartLen = 16

// VersionAt reports whether b[i:] starts like a version: a digit, then a digit or a dot. The last byte of a text may have
// bit 7 set, which ends a text of Kryo's.
func VersionAt(b []byte, i int) bool {
	if i+1 >= len(b) {
		return false
	}
	c, d := b[i], b[i+1]&0x7f
	return c >= '0' && c <= '9' && (d == '.' || d >= '0' && d <= '9')
}

// IsKindByte reports whether b starts with a result kind as one byte.
func IsKindByte(b []byte) bool { return b[0] <= 5 }

// ShortLength reports whether b starts with a length below 256 in four bytes, big-endian.
func ShortLength(b []byte) bool { return len(b) >= 3 && b[0]|b[1]|b[2] == 0 }

// MostlyPrintable reports whether at least half of the bytes are not control characters.
func MostlyPrintable(b []byte) bool {
	n := 0
	for _, c := range b {
		if c >= 0x20 && c != 0x7f {
			n++
		}
	}
	return 2*n >= len(b)
}
