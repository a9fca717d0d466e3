package decode

// Mapper replaces values by others of the same type that need as many bytes in every serialization. Equal values have equal
// replacements. Its methods change their arguments in place.
type Mapper interface {
	// Text replaces the characters of a whole text. Each replacement has the same length in UTF-8 and in UTF-16; it is in
	// Latin-1 if the original is, and JSON escapes it by two bytes if it does so with the original.
	Text(runes []rune)
	// UTF8 replaces the whole text b as Text does if it is UTF-8, and reports whether it is.
	UTF8(b []byte) bool
	// Runes returns an empty slice to collect the characters of a text in, valid until the next call.
	Runes() []rune
	// Int replaces an integer by one with the same sign, as many digits and as many bytes in every variable-length encoding.
	Int(n int64) int64
	// Within replaces an integer from lo to hi by another one in that range, and returns any other unchanged.
	Within(n, lo, hi int64) int64
	// Float replaces a number of 32 or 64 bits by one with the same sign and as many decimal digits in its shortest form.
	Float(f float64, bits int) float64
	// Values replaces these values of b as UTF8, Int and Float do, which takes less time than to call these for each.
	Values(b []byte, values []ValueAt)
	// Digits replaces the digits of a number, a date or a time that is written as text.
	Digits(text []byte)
	// Bytes replaces a whole array of bytes.
	Bytes(b []byte)
	// Alike replaces each byte of a whole text by another one of those that alike returns for it and its offset; the byte stays if there
	// is none. It is for texts whose encoding allows no others.
	Alike(text []byte, alike func(i int, c byte) string)
}

// ValueAt is a value of a body whose bytes say all of it: a String in UTF-8, an Int of 4 or 8 bytes or a Float64 of 8, the highest byte first.
type ValueAt struct {
	Off, Len int32
	Kind     Kind
}

// ScrubFunc replaces the value of node n in b, the bytes on the wire that the node owns. It changes nothing and returns
// false if it does not find the value in them.
type ScrubFunc func(b []byte, n *Node, m Mapper) bool

// BodyScrubber replaces the values of whole bodies without a tree. It is not safe for concurrent use.
type BodyScrubber interface {
	// ScrubBody replaces the values in b: n values and, if attachments is set, the attachments after them, up to the end of b. The result is
	// that of [Format].Scrub for each node of the tree. It returns false if that is not certain, or if the tree could become another one;
	// what b has then is not defined. With a nil Mapper it changes nothing, and returns true for all bodies that it would return true for.
	ScrubBody(b []byte, n int, attachments bool, m Mapper) bool
	// ScrubAgain replaces values of the copy of b that ScrubBody has made, again from the original ones. It returns false if it cannot; what the
	// copy has then is not defined.
	ScrubAgain(b []byte, n int, attachments bool, again *Again) bool
}

// Again says which values are replaced again: those that have a byte between the offsets From and To.
type Again struct {
	From, To int
	Copy     []byte
	Mapper   Mapper
}

// Covers reports whether values between the offsets at and stop are among them. None are if a is nil.
func (a *Again) Covers(at, stop int) bool { return a != nil && at < a.To && a.From < stop }

// Limits of what a BodyScrubber takes: levels of nesting, and nodes that a tree would have.
const (
	MaxScrubbedDepth = 256
	MaxScrubbedNodes = DefaultMaxNodes / 2
)

// Waiting is values of a body that are replaced together, see [Mapper].Values.
type Waiting struct {
	values [64]ValueAt
	n      int
}

// Add adds the value of kind k between two offsets of a body, and reports whether Replace must be called before the next one.
func (w *Waiting) Add(from, to int, k Kind) (full bool) {
	w.values[w.n] = ValueAt{Off: int32(from), Len: int32(to - from), Kind: k}
	w.n++
	return w.n == len(w.values)
}

// Replace replaces all values that wait.
func (w *Waiting) Replace(b []byte, m Mapper) {
	if w.n > 0 {
		m.Values(b, w.values[:w.n])
		w.n = 0
	}
}

// Forget drops the values that wait.
func (w *Waiting) Forget() { w.n = 0 }
