package decode

// Mapper gives values their replacements, which are of the same type and take as many bytes in every serialization. Equal
// values have equal replacements. Its methods change what they are given in place.
type Mapper interface {
	// Text replaces the characters of a whole text. Each one keeps its length in UTF-8 and in UTF-16, stays within Latin-1
	// if it was, and has an escape of two bytes in JSON if it had.
	Text(runes []rune)
	// Runes returns an empty slice to collect the characters of a text in, valid until the next call.
	Runes() []rune
	// Int replaces an integer: the same sign, as many digits, as many bytes in every variable-length encoding.
	Int(n int64) int64
	// Within replaces an integer from lo to hi by another one of these, and leaves any other as it is.
	Within(n, lo, hi int64) int64
	// Float replaces a number of so many bits (32 or 64): the same sign, and as many decimal digits as its shortest form has.
	Float(f float64, bits int) float64
	// Digits replaces the digits of a number, a date or a time that is written as text.
	Digits(text []byte)
	// Bytes replaces a whole array of bytes.
	Bytes(b []byte)
}

// ScrubFunc replaces the value of node n in b, the bytes on the wire that the node owns. It changes nothing and returns
// false where it does not find the value in them.
type ScrubFunc func(b []byte, n *Node, m Mapper) bool
