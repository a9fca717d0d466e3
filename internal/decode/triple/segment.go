package triple

// id stands for a segment of a path that is the id of something, rather than a name.
const id = "{id}"

// Bounds of segments that look random, in characters.
const (
	minHash        = 8  // of hexadecimal digits with a decimal one among them
	minLettersHash = 16 // of hexadecimal digits that are all letters
	minToken       = 10 // of letters and digits in words of less than two
	minLongToken   = 16
)

// terms are names with three digits or more.
var terms = map[string]bool{
	"sha224": true, "sha256": true, "sha384": true, "sha512": true, "aes128": true, "aes256": true, "rs256": true, "hs256": true, "es256": true,
	"x509": true, "h264": true, "h265": true, "e164": true, "iso639": true, "iso3166": true, "iso4217": true, "iso8601": true, "rfc3339": true,
}

// isID reports whether a segment of a path, without matrix parameters, is an id rather than a name: a number, a date, a UUID, a hash, a
// random token, or a text with characters that names lack. It looks at nothing but the segment, so that neither the order of calls nor other calls
// change a name.
func isID[T string | []byte](segment T) bool {
	var c shape
	for i := range len(segment) {
		if !c.add(segment[i]) {
			return true
		}
	}
	switch {
	case c.letters == 0:
		return c.digits > 0
	case c.isUUID(len(segment)), c.isHash():
		return true
	case c.digits > 2:
		return !isVersion(segment) && (len(segment) > maxTerm || !terms[string(segment)])
	case segment[0] == '0', c.leading > 0 && c.digits > 1: // but 2fa and 3d-secure are names
		return true
	}
	return c.isRandom()
}

const maxTerm = 7 // the length of the longest of terms

// shape is what isID knows of the characters of a segment.
type shape struct {
	length, letters, digits, separators int
	// hyphens are the places of hyphens as bits. notHex is set if there is a letter after f, or another separator.
	hyphens       uint64
	leading       int // digits before anything else
	upper, vowels int
	notHex        bool
	words         int  // as in camel case: before each there is a change from a digit, or to one, or to a capital
	last          byte // the class of the last character
	run           int  // the number of characters of this class
}

// The classes of characters.
const (
	digitClass     = '0'
	lowerClass     = 'a'
	upperClass     = 'A'
	separatorClass = '-'
)

// add adds a character, and reports whether names may have it there.
func (s *shape) add(c byte) bool {
	class := byte(separatorClass)
	switch lower := c | 0x20; {
	case c >= '0' && c <= '9':
		class = digitClass
		if s.digits++; s.digits == s.length+1 {
			s.leading++
		}
	case lower >= 'a' && lower <= 'z':
		if class = lowerClass; c < 'a' {
			class = upperClass
			s.upper++
		}
		s.letters++
		s.notHex = s.notHex || lower > 'f'
		switch lower {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			s.vowels++
		}
	case c == '-':
		if s.separators++; s.length < 64 {
			s.hyphens |= 1 << s.length
		}
	case c == '_', c == '.', c == '$', c == ':', c == '@' && s.length == 0:
		s.separators++
		s.notHex = true
	default:
		return false
	}
	s.length++
	switch {
	case class == s.last:
		s.run++
		return true
	case s.last == upperClass && class == lowerClass: // a word begins with a capital, the last one after several
		if s.run > 1 {
			s.words++
		}
	case class != separatorClass:
		s.words++
	}
	s.last, s.run = class, 1
	return true
}

// isUUID reports whether the segment has the form of a UUID (RFC 9562).
func (s *shape) isUUID(length int) bool {
	return length == 36 && !s.notHex && s.hyphens == 1<<8|1<<13|1<<18|1<<23
}

// isHash reports whether the segment is hexadecimal, and too long for a word.
func (s *shape) isHash() bool {
	return !s.notHex && s.separators == 0 && (s.length >= minHash && s.digits > 0 || s.length >= minLettersHash)
}

// isRandom reports whether no words make up the segment: they are very short, or lack vowels.
func (s *shape) isRandom() bool {
	text := s.letters + s.digits
	mixed := s.upper > 0 && s.upper < s.letters
	switch {
	case mixed && s.digits > 0 && text >= minToken && text < 2*s.words:
		return true
	case text < minLongToken:
		return false
	case mixed && 2*text < 5*s.words, mixed && 2*text < 7*s.words && 4*s.vowels < s.letters:
		return true
	}
	return s.separators == 0 && 5*s.vowels < s.letters
}

// isVersion reports whether a segment is the version of an interface: v1, v2beta1, v1.10.2, v2024.
func isVersion[T string | []byte](segment T) bool {
	if segment[0]|0x20 != 'v' {
		return false
	}
	run := 0 // of digits
	for i := 1; i < len(segment); i++ {
		c := segment[i]
		isDigit := c >= '0' && c <= '9'
		switch {
		case isDigit && run < 4:
			run++
		case isDigit, i == 1, i > len("v1.10.2-alpha1"):
			return false
		case c == '.', c == '-', c >= 'a' && c <= 'z':
			run = 0
		default:
			return false
		}
	}
	return true
}
