package scrub

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"
)

// Numbers are shuffled within ranges that every serialization writes in the same number of bytes. positives and negatives are
// the numbers at which one of them takes another byte or another digit.
var positives, negatives = bounds(false), bounds(true)

// bounds returns the first number of each range: of n, or of -1-n for negative numbers.
func bounds(negative bool) []uint64 {
	all := []uint64{
		0,
		16, 48, 2048, 1 << 18, // Hessian, fastjson2: numbers within the tag, of two and of three bytes
		32,      // the same of MessagePack and Dubbo
		1 << 30, // Fury: half a word
		240, 256,
	}
	for k := 1; k <= 8; k++ {
		if s := 8 * k; s < 63 {
			all = append(all, 1<<s)
		}
		all = append(all, 1<<(8*k-1))
	}
	for s := 6; s < 63; s += 7 {
		all = append(all, 1<<s, 1<<(s+1)) // varint with and without sign
	}
	for p := uint64(10); p <= 1e18; p *= 10 {
		if negative {
			all = append(all, p-1)
		} else {
			all = append(all, p)
		}
	}
	if negative {
		all = append(all, 126) // of one byte in FST
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// rangeOf returns the first and the last number of the range that x is in; the last range ends with the signed 64-bit numbers.
func rangeOf(all []uint64, x uint64) (lo, hi uint64) {
	i, found := slices.BinarySearchFunc(all, x, cmp.Compare[uint64])
	if !found {
		i--
	}
	hi = math.MaxInt64
	if i+1 < len(all) {
		hi = all[i+1] - 1
	}
	return all[i], max(hi, x)
}

// shuffle is a keyed permutation of the numbers from 0 to n-1, without a fixed point if n is at least 2.
func (p *prf) shuffle(x, n, tweak uint64) uint64 {
	if n < 2 {
		return x
	}
	if p.even > 0 {
		y := [...]uint64{0, n - 1, n / 2, 1, n / 4, n - n/4}[p.even%6]
		if x == y {
			y = (y + 1) % n
		}
		return y
	}
	known := p.cached(x, n, tweak)
	if known.x == x && known.n == n && known.tweak == tweak {
		return known.y
	}
	// A rotation between a permutation and its inverse has no fixed point.
	by := 1 + p.number(n, tweak<<8|0xff)%(n-1)
	y := p.permute(x, n, tweak, false)
	y = (y + by) % n // below 2^64: n is at most 2^63
	y = p.permute(y, n, tweak, true)
	*known = shuffled{x, n, tweak, y}
	return y
}

// permute is a Feistel network over the bits of n-1, walked until the number is below n.
func (p *prf) permute(x, n, tweak uint64, inverse bool) uint64 {
	half := (bits.Len64(n-1) + 1) / 2
	mask := uint64(1)<<half - 1
	const rounds = 4
	of := n>>32<<32 | tweak<<8
	for {
		left, right := x>>half, x&mask
		for k := range uint64(rounds) {
			if inverse {
				left, right = right^p.number(left^n<<32, of|(rounds-1-k))&mask, left
			} else {
				left, right = right, left^p.number(right^n<<32, of|k)&mask
			}
		}
		x = left<<half | right
		if x < n {
			return x
		}
	}
}

// fewInts is how many integers around 0 have replacements in a table of their own, which are as near to it.
const fewInts = 2 * 1000

// Int implements [decode.Mapper].
func (s *mapper) Int(n int64) int64 {
	if s.calendar || s.salt != 0 || s.prf.even > 0 {
		return s.int(n)
	}
	if n+fewInts/2 >= 0 && n < fewInts/2 {
		few := &s.fewInts[n+fewInts/2]
		if *few == 0 {
			*few = int16(s.int(n)) + fewInts
		}
		return int64(*few - fewInts)
	}
	becomes, known := s.numbers.find(uint64(n))
	if !known {
		becomes = uint64(s.int(n))
		s.numbers.add(uint64(n), becomes)
	}
	return int64(becomes)
}

// int is Int of a number that comes for the first time.
func (s *mapper) int(n int64) int64 {
	all, x, tweak := positives, uint64(n), uint64('i')
	switch {
	case s.calendar && n >= 0 && n < 60:
		all, tweak = calendar, 'c'
		if n >= 29 && n <= 31 {
			x -= 4 // a day that every month has
		}
	case n < 0:
		all, x, tweak = negatives, uint64(-1-n), 'n'
	}
	lo, hi := rangeOf(all, x)
	y := lo + s.prf.shuffle(x-lo, hi-lo+1, tweak|uint64(s.salt)<<8)
	if n < 0 {
		return -1 - int64(y)
	}
	return int64(y)
}

// Within implements [decode.Mapper].
func (s *mapper) Within(n, lo, hi int64) int64 {
	if n < lo || n > hi {
		return n
	}
	return lo + int64(s.prf.shuffle(uint64(n-lo), uint64(hi-lo)+1, 'w'|uint64(s.salt)<<8))
}

// numberCache remembers the replacements of numbers in sets of four, a line of the processor's cache each. The set of a number follows from
// the number alone; the one that came last is the first one of it.
type numberCache [][4]knownNumber

// knownNumber is a number and its replacement.
type knownNumber struct{ is, becomes uint64 }

const intSetBits, floatSetBits = 15, 14

func newNumberCache(bits int) numberCache {
	c := make(numberCache, 1<<bits)
	for i := range c[0] {
		c[0][i].is = 1 // a number of another set, as 0 is in all others
	}
	return c
}

// set returns the number of the set that has n if it is known.
func (c numberCache) set(n uint64) (set uint64) {
	set, _ = bits.Mul64(n*0x9e3779b97f4a7c15, uint64(len(c)))
	return set
}

// find returns the replacement of n if it is known.
func (c numberCache) find(n uint64) (becomes uint64, known bool) {
	set := &c[c.set(n)]
	for i := range set {
		if set[i].is == n {
			return set[i].becomes, true
		}
	}
	return 0, false
}

// add adds a number that is not known.
func (c numberCache) add(n, becomes uint64) {
	set := &c[c.set(n)]
	copy(set[1:], set[:3])
	set[0] = knownNumber{n, becomes}
}

// calendar are the bounds for months, hours, days and minutes, so that each becomes another one; 0 stays.
var calendar = []uint64{0, 1, 10, 13, 16, 24, 29, 32, 48, 60}

// decimal is a decimal number: n times ten to the power exp, where n does not end in 0.
type decimal struct {
	n   uint64
	exp int
}

// maxDigits is how many digits a number that is shuffled may have; longer ones are replaced digit by digit.
const maxDigits = 18

// digits replaces the digits of a decimal by as many others, of which the last is not 0.
func (s *mapper) digits(n uint64) uint64 {
	if n == 0 {
		return 0
	}
	// Ranges as integers have, where they do not end in 0, so that 12.5 and 125 are as wide as each other.
	lo, hi := rangeOf(positives, n)
	rank := func(x uint64) uint64 { return x - x/10 } // numbers from 1 to x that do not end in 0
	first := rank(max(lo, 1) - 1)
	count := rank(hi) - first
	r := s.prf.shuffle(rank(n)-1-first, count, 'd'|uint64(s.salt)<<8) + first
	return r + r/9 + 1
}

// Float implements [decode.Mapper].
func (s *mapper) Float(f float64, bitSize int) float64 {
	if bitSize != 64 || s.salt != 0 || s.prf.even > 0 {
		return s.float(f, bitSize)
	}
	n := math.Float64bits(f)
	becomes, known := s.floats.find(n)
	if !known {
		becomes = math.Float64bits(s.float(f, bitSize))
		s.floats.add(n, becomes)
	}
	return math.Float64frombits(becomes)
}

// float is Float of a number that comes for the first time.
func (s *mapper) float(f float64, bitSize int) float64 {
	if f == 0 || math.IsInf(f, 0) || math.IsNaN(f) {
		return f
	}
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], f, 'e', -1, bitSize)
	d, ok := parseDecimal(text)
	if !ok {
		return f
	}
	g := s.inRange(&d, bitSize)
	return math.Copysign(g, f)
}

// inRange replaces the digits of a decimal so that it is a finite number of bitSize bits other than 0, and returns it.
func (s *mapper) inRange(d *decimal, bitSize int) float64 {
	salt := s.salt
	defer func() { s.salt = salt }()
	for try := byte(0); ; try++ {
		s.salt = salt + try*16
		n := s.digits(d.n)
		if try == 15 {
			n = d.n
		}
		out := strconv.AppendUint(make([]byte, 0, 32), n, 10)
		out = append(out, 'e')
		out = strconv.AppendInt(out, int64(d.exp), 10)
		g, err := strconv.ParseFloat(string(out), bitSize)
		if err == nil && g != 0 || try == 15 {
			d.n = n
			return g
		}
	}
}

// parseDecimal reads a number of at most maxDigits digits without the zeros at both ends.
func parseDecimal(text []byte) (d decimal, ok bool) {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	mantissa := text
	if at := bytes.IndexAny(text, "eE"); at >= 0 {
		exp, err := strconv.Atoi(string(text[at+1:]))
		if err != nil || exp > 1<<20 || exp < -1<<20 {
			return d, false
		}
		mantissa, d.exp = text[:at], exp
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	digits := append(append(make([]byte, 0, 32), whole...), fraction...)
	significant := bytes.TrimRight(digits, "0")
	d.exp += len(digits) - len(significant) - len(fraction)
	significant = bytes.TrimLeft(significant, "0")
	if len(significant) > maxDigits {
		return d, false
	}
	for _, c := range significant {
		if c < '0' || c > '9' {
			return d, false
		}
		d.n = d.n*10 + uint64(c-'0')
	}
	return d, true
}
