package compress

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"
)

// A stream of deflate (RFC 1951) that must not be longer than the one of another compressor: the cheapest of all ways to divide the text
// into literals and matches, in one block with fixed or own codes.

// match is bytes of a text: a literal if dist is 0, else a copy of bytes at that distance.
type match struct{ len, dist int32 }

// Bounds of matches, and of the earlier places that are tried for each byte.
const (
	minMatch  = 3
	maxMatch  = 258
	maxDist   = 32 << 10
	maxChain  = 256
	endOfText = 256
)

// lengthCode returns the symbol of the length of a match, and the number and the value of its additional bits.
func lengthCode(n int) (symbol, extra, value int) {
	if n -= minMatch; n < 8 {
		return 257 + n, 0, 0
	}
	if n == maxMatch-minMatch {
		return 285, 0, 0
	}
	extra = bits.Len(uint(n)) - 3
	return 257 + 4*extra + n>>extra, extra, n & (1<<extra - 1)
}

// distCode returns the symbol of a distance, and the number and the value of its additional bits.
func distCode(n int) (symbol, extra, value int) {
	if n--; n < 4 {
		return n, 0, 0
	}
	extra = bits.Len(uint(n)) - 2
	return 2*extra + n>>extra, extra, n & (1<<extra - 1)
}

// deflateCodes are the lengths of codes of literals and lengths, and of distances.
type deflateCodes struct{ lit, dist []int }

func fixedCodes() deflateCodes {
	c := deflateCodes{lit: make([]int, 288), dist: slices.Repeat([]int{5}, 30)}
	for i := range c.lit {
		switch {
		case i < 144, i >= 280:
			c.lit[i] = 8
		case i < 256:
			c.lit[i] = 9
		default:
			c.lit[i] = 7
		}
	}
	return c
}

// orLong returns the length of a code; one that is not there counts as long.
func orLong(length int) int32 {
	if length > 0 {
		return int32(length)
	}
	return 13
}

// step is the last match on the cheapest way to a place, and the bits of that way.
type step struct {
	match
	cost int32
}

// parse divides b into matches so that they take the fewest bits with these codes.
func (c *deflateCodes) parse(b []byte, earlier *matches) []match {
	steps := earlier.steps
	for i := range steps {
		steps[i].cost = 1 << 30
	}
	steps[0].cost = 0
	var lengths [maxMatch + 1]int32 // the bits of each
	for n := minMatch; n <= maxMatch; n++ {
		l, extra, _ := lengthCode(n)
		lengths[n] = orLong(c.lit[l]) + int32(extra)
	}
	for at, literal := range b {
		cost := steps[at].cost
		if bits, to := cost+orLong(c.lit[literal]), &steps[at+1]; bits < to.cost {
			*to = step{match{1, 0}, bits}
		}
		for _, m := range earlier.at(at) {
			d, extra, _ := distCode(int(m.dist))
			far := cost + orLong(c.dist[d]) + int32(extra)
			least := int32(minMatch)
			if m.len > 64 {
				least = m.len - 4 // shorter ones of a long match do not pay
			}
			bits, to := lengths[least:m.len+1], steps[at+int(least):at+int(m.len)+1]
			for k := range to {
				if bits := far + bits[k]; bits < to[k].cost {
					to[k] = step{match{least + int32(k), m.dist}, bits}
				}
			}
		}
	}
	list := earlier.list[:0]
	for at := len(b); at > 0; at -= int(steps[at].len) {
		list = append(list, steps[at].match)
	}
	slices.Reverse(list)
	earlier.list = list
	return list
}

// matches has for each place of a text the longest matches by distance: each is longer than the ones before.
type matches struct {
	all  []match
	from []int32 // the index of the first match of each place, and the number of all
	// What finding them and parse use.
	places earlierPlaces
	text   []byte // with zeros after it
	last   [len(grams)]lastPlaces
	steps  []step
	list   []match
}

// at returns the matches at a place.
func (m *matches) at(i int) []match { return m.all[m.from[i]:m.from[i+1]] }

// grams are the lengths of the runs of bytes whose earlier places are known. After a match of so many bytes only places with the same run
// can have a longer one.
var grams = [...]int{minMatch, 5, 8}

// earlierPlaces has for each place of a text the place before it of the same run of bytes, -1 without one, by length of the run.
type earlierPlaces struct {
	before [len(grams)][]int32
	rank   []int32 // how many earlier places have the same first bytes
}

// pooled has the memory of matches.
var pooled = sync.Pool{New: func() any { return new(matches) }}

// maxPooled is the largest number of matches that are kept for the next text.
const maxPooled = 1 << 18

// free gives the memory back.
func (m *matches) free() {
	if cap(m.all) > maxPooled {
		m.all = nil
	}
	pooled.Put(m)
}

// find finds the matches of a text.
func (m *matches) find(b []byte) {
	m.all, m.from = m.all[:0], append(m.from[:0], 0)
	m.text = append(append(m.text[:0], b...), make([]byte, 8)...)
	m.steps = resized(m.steps, len(b)+1)
	p := &m.places
	p.rank = resized(p.rank, len(b))
	for i := range grams {
		p.before[i] = resized(p.before[i], len(b))
		m.last[i].reset(len(b))
	}
	for at := range b {
		next := binary.LittleEndian.Uint64(m.text[at:])
		for i, n := range grams {
			p.before[i][at] = -1
			if at+n <= len(b) {
				p.before[i][at] = m.last[i].replace(m.text, next, ^uint64(0)>>(64-8*n), int32(at))
			}
		}
		if p.rank[at] = 0; p.before[0][at] >= 0 {
			p.rank[at] = p.rank[p.before[0][at]] + 1
			m.all = p.appendMatches(m.all, b, at)
		}
		m.from = append(m.from, int32(len(m.all)))
	}
}

// resized returns a slice of n elements, which may have anything.
func resized[E any](s []E, n int) []E { return slices.Grow(s[:0], n)[:n] }

// appendMatches appends the matches at a place.
func (p *earlierPlaces) appendMatches(all []match, b []byte, at int) []match {
	here := b[at:min(len(b), at+maxMatch)]
	longest, level := minMatch-1, 0
	before, nearest := p.before[0], p.rank[at]-maxChain
	for from := before[at]; from >= 0 && p.rank[from] >= nearest && at-int(from) <= maxDist; from = before[from] {
		there := b[from:][:len(here)]
		if longest == len(here) || there[longest] != here[longest] {
			continue
		}
		n := commonLength(here, there)
		if n <= longest {
			continue
		}
		longest = n
		all = append(all, match{int32(n), int32(at) - from})
		if n == maxMatch {
			break
		}
		for level+1 < len(grams) && n >= grams[level+1] {
			level++
			before = p.before[level]
		}
	}
	return all
}

// commonLength returns how many of the first bytes of a and b are the same. They have the same length.
func commonLength(a, b []byte) (n int) {
	for ; n+8 <= len(a); n += 8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < len(a) && a[n] == b[n] {
		n++
	}
	return n
}

// lastPlaces has the last place of each run of bytes of a text, in an open-addressed table.
type lastPlaces struct {
	places []int32 // plus 1; 0 where there is none
	shift  int
}

// reset empties the table for a text of n bytes.
func (l *lastPlaces) reset(n int) {
	size := bits.Len(uint(2*n) | 15)
	l.places, l.shift = resized(l.places, 1<<size), 64-size
	clear(l.places)
}

// placeFactor is random, so that nobody can write a text whose runs have the same place in the table.
var placeFactor = rand.Uint64() | 1

// replace sets the last place of the run of bytes that begins at a place, the masked ones of next, and returns the one before, -1 without one.
func (l *lastPlaces) replace(text []byte, next, mask uint64, at int32) int32 {
	key := next & mask
	last := len(l.places) - 1
	for i := int(key * placeFactor >> l.shift); ; i++ {
		switch place := &l.places[i&last]; {
		case *place == 0:
			*place = at + 1
			return -1
		case binary.LittleEndian.Uint64(text[*place-1:])&mask == key:
			before := *place - 1
			*place = at + 1
			return before
		}
	}
}

// ownCodes returns the codes that are best for a list of matches.
func ownCodes(b []byte, list []match) deflateCodes {
	lit, dist := make([]int, 286), make([]int, 30)
	at := 0
	for _, m := range list {
		if m.dist == 0 {
			lit[b[at]]++
		} else {
			l, _, _ := lengthCode(int(m.len))
			d, _, _ := distCode(int(m.dist))
			lit[l]++
			dist[d]++
		}
		at += int(m.len)
	}
	lit[endOfText]++
	return deflateCodes{lit: usedLengths(lit, 15), dist: usedLengths(dist, 15)}
}

// usedLengths returns the lengths of the codes of symbols that occur, 0 for others. There are two codes at least.
func usedLengths(counts []int, limit int) []int {
	var used, weights []int
	for s, n := range counts {
		if n > 0 {
			used, weights = append(used, s), append(weights, n)
		}
	}
	for s := 0; len(used) < 2; s++ {
		if !slices.Contains(used, s) {
			used, weights = append(used, s), append(weights, 1)
		}
	}
	out := make([]int, len(counts))
	for i, n := range codeLengths(weights, limit) {
		out[used[i]] = n
	}
	return out
}

// lowWriter writes bits, the least significant one first.
type lowWriter struct {
	b []byte
	n int // bits
}

func (w *lowWriter) write(v, n int) {
	for n > 0 {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		k := min(n, 8-w.n%8)
		w.b[w.n/8] |= byte(v&(1<<k-1)) << (w.n % 8)
		w.n += k
		n -= k
		v >>= k
	}
}

// code writes a code, whose bits come in the other order.
func (w *lowWriter) code(code, n int) { w.write(int(bits.Reverse64(uint64(code))>>(64-n)), n) }

// stored writes an empty block without compression.
func (w *lowWriter) stored(final int) {
	w.write(final, 3)
	w.write(0, (8-w.n%8)%8)
	w.write(0xffff0000, 32)
}

// empty writes an empty block with fixed codes.
func (w *lowWriter) empty(final int) { w.write(final|2, 10) }

// text writes the content of a block.
func (w *lowWriter) text(b []byte, list []match, c *deflateCodes) {
	lit, dist := codesOf(c.lit), codesOf(c.dist)
	at := 0
	for _, m := range list {
		if m.dist == 0 {
			w.code(lit[b[at]], c.lit[b[at]])
		} else {
			l, extra, value := lengthCode(int(m.len))
			w.code(lit[l], c.lit[l])
			w.write(value, extra)
			d, extra, value := distCode(int(m.dist))
			w.code(dist[d], c.dist[d])
			w.write(value, extra)
		}
		at += int(m.len)
	}
	w.code(lit[endOfText], c.lit[endOfText])
}

// codeOrder is the order of the lengths of codes for lengths of codes.
var codeOrder = [...]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// lengths writes the codes of a block with own ones.
func (w *lowWriter) lengths(c *deflateCodes) {
	nlit, ndist := 286, 30
	for nlit > 257 && c.lit[nlit-1] == 0 {
		nlit--
	}
	for ndist > 1 && c.dist[ndist-1] == 0 {
		ndist--
	}
	type run struct{ symbol, value, extra int }
	var runs []run
	counts := make([]int, len(codeOrder))
	add := func(symbol, value, extra int) {
		runs = append(runs, run{symbol, value, extra})
		counts[symbol]++
	}
	all := append(slices.Clone(c.lit[:nlit]), c.dist[:ndist]...)
	for i := 0; i < len(all); {
		n := 1
		for i+n < len(all) && all[i+n] == all[i] {
			n++
		}
		i += n
		length := all[i-1]
		if length > 0 {
			add(length, 0, 0)
			n--
		}
		for n >= 3 {
			switch {
			case length > 0:
				k := min(n, 6)
				add(16, k-3, 2)
				n -= k
			case n >= 11:
				k := min(n, 138)
				add(18, k-11, 7)
				n -= k
			default:
				add(17, n-3, 3)
				n = 0
			}
		}
		for ; n > 0; n-- {
			add(length, 0, 0)
		}
	}
	lengths := usedLengths(counts, 7)
	codes := codesOf(lengths)
	ncode := len(codeOrder)
	for ncode > 4 && lengths[codeOrder[ncode-1]] == 0 {
		ncode--
	}
	w.write(nlit-257, 5)
	w.write(ndist-1, 5)
	w.write(ncode-4, 4)
	for _, s := range codeOrder[:ncode] {
		w.write(lengths[s], 3)
	}
	for _, r := range runs {
		w.code(codes[r.symbol], lengths[r.symbol])
		w.write(r.value, r.extra)
	}
}

// maxParsed is the maximum length of a text for which all ways are tried, in bytes.
const maxParsed = 64 << 10

// smallest returns plain in one block, which is the last one.
func smallest(plain []byte) lowWriter {
	const final = 1
	earlier := pooled.Get().(*matches)
	defer earlier.free()
	earlier.find(plain)
	codes := fixedCodes()
	list := codes.parse(plain, earlier)
	var best lowWriter
	best.write(final|2, 3)
	best.text(plain, list, &codes)
	own := ownCodes(plain, list)
	for range 3 {
		before := own
		list = own.parse(plain, earlier)
		own = ownCodes(plain, list)
		var w lowWriter
		w.write(final|4, 3)
		w.lengths(&own)
		if w.text(plain, list, &own); w.n < best.n {
			best = w
		}
		if slices.Equal(own.lit, before.lit) && slices.Equal(own.dist, before.dist) {
			break // the next list would be the same
		}
	}
	return best
}

// deflateTo returns n bytes of deflate, nil if that is not possible. If n is 0, it returns as few as it can.
func deflateTo(plain []byte, n int) []byte {
	if len(plain) > maxParsed {
		return deflateLong(plain, n)
	}
	last := smallest(plain)
	if n == 0 || len(last.b) == n {
		return last.b
	}
	if len(last.b) > n {
		return nil
	}
	block := last
	block.b[0] &^= 1 // more may follow
	for fixed := range 8 {
		for _, end := range [2]func(*lowWriter, int){(*lowWriter).empty, (*lowWriter).stored} {
			w := lowWriter{slices.Clone(block.b), block.n}
			for range fixed {
				w.empty(0)
			}
			one := lowWriter{slices.Clone(w.b), w.n}
			if end(&one, 1); len(one.b) == n {
				return one.b
			}
			w.stored(0)
			for ; len(w.b)+2 < n-4; w.n += 40 {
				w.b = append(w.b, 0, 0, 0, 0xff, 0xff)
			}
			if end(&w, 1); len(w.b) == n {
				return w.b
			}
		}
	}
	return nil
}
