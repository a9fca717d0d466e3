package compress

import (
	"math/bits"
	"slices"
)

// A stream of deflate (RFC 1951) that must not be longer than the one of another compressor: the cheapest of all ways to divide the text
// into literals and matches, in one block with fixed or own codes.

// match is bytes of a text: a literal if dist is 0, else a copy of bytes at that distance.
type match struct{ len, dist int }

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

// parse divides b into matches so that they take the fewest bits with these codes. Codes that are not there count as long.
func (c *deflateCodes) parse(b []byte, earlier [][]match) []match {
	cost := make([]int, len(b)+1)
	best := make([]match, len(b)+1)
	for i := range cost {
		cost[i] = 1 << 60
	}
	cost[0] = 0
	of := func(lengths []int, symbol int) int {
		if n := lengths[symbol]; n > 0 {
			return n
		}
		return 13
	}
	take := func(at int, m match, bits int) {
		if to := at + m.len; cost[at]+bits < cost[to] {
			cost[to], best[to] = cost[at]+bits, m
		}
	}
	for at, c2 := range b {
		take(at, match{1, 0}, of(c.lit, int(c2)))
		for _, m := range earlier[at] {
			d, extra, _ := distCode(m.dist)
			far := of(c.dist, d) + extra
			least := minMatch
			if m.len > 64 {
				least = m.len - 4 // shorter ones of a long match do not pay
			}
			for n := least; n <= m.len; n++ {
				l, extra, _ := lengthCode(n)
				take(at, match{n, m.dist}, far+extra+of(c.lit, l))
			}
		}
	}
	var list []match
	for at := len(b); at > 0; at -= best[at].len {
		list = append(list, best[at])
	}
	slices.Reverse(list)
	return list
}

// matches returns for each place of b the longest matches by distance: each is longer than the ones before.
func matches(b []byte) [][]match {
	all := make([][]match, len(b))
	last := make(map[[minMatch]byte]int)
	before := make([]int, len(b))
	for at := 0; at+minMatch <= len(b); at++ {
		key := [minMatch]byte(b[at:])
		from, ok := last[key]
		before[at] = -1
		if ok {
			before[at] = from
		}
		last[key] = at
		longest := minMatch - 1
		for k := 0; ok && k < maxChain && at-from <= maxDist; k++ {
			n := minMatch
			for n < maxMatch && at+n < len(b) && b[from+n] == b[at+n] {
				n++
			}
			if n > longest {
				longest = n
				all[at] = append(all[at], match{n, at - from})
			}
			if n == maxMatch || before[from] < 0 {
				break
			}
			from = before[from]
		}
	}
	return all
}

// ownCodes returns the codes that are best for a list of matches.
func ownCodes(b []byte, list []match) deflateCodes {
	lit, dist := make([]int, 286), make([]int, 30)
	at := 0
	for _, m := range list {
		if m.dist == 0 {
			lit[b[at]]++
		} else {
			l, _, _ := lengthCode(m.len)
			d, _, _ := distCode(m.dist)
			lit[l]++
			dist[d]++
		}
		at += m.len
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
	for ; n > 0; n-- {
		if w.n%8 == 0 {
			w.b = append(w.b, 0)
		}
		w.b[w.n/8] |= byte(v&1) << (w.n % 8)
		w.n++
		v >>= 1
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
			l, extra, value := lengthCode(m.len)
			w.code(lit[l], c.lit[l])
			w.write(value, extra)
			d, extra, value := distCode(m.dist)
			w.code(dist[d], c.dist[d])
			w.write(value, extra)
		}
		at += m.len
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

// smallest returns plain in one block, which is the last one unless more may follow.
func smallest(plain []byte, final int) lowWriter {
	earlier := matches(plain)
	codes := fixedCodes()
	list := codes.parse(plain, earlier)
	var best lowWriter
	best.write(final|2, 3)
	best.text(plain, list, &codes)
	for range 3 {
		own := ownCodes(plain, list)
		list = own.parse(plain, earlier)
		own = ownCodes(plain, list)
		var w lowWriter
		w.write(final|4, 3)
		w.lengths(&own)
		if w.text(plain, list, &own); w.n < best.n {
			best = w
		}
	}
	return best
}

// deflateTo returns n bytes of deflate, nil if that is not possible. If n is 0, it returns as few as it can.
func deflateTo(plain []byte, n int) []byte {
	if len(plain) > maxParsed {
		return deflateLong(plain, n)
	}
	last := smallest(plain, 1)
	if n == 0 || len(last.b) == n {
		return last.b
	}
	if len(last.b) > n {
		return nil
	}
	block := smallest(plain, 0)
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
