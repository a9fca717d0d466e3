package compress

import (
	"math/bits"
	"slices"
)

// maxBzip2 is the maximum length of a message that is written as bzip2, in bytes. It fits into one block of the smallest size.
const maxBzip2 = 90_000

// fillBzip2 writes a message of one block. The lengths of its codes may be written with detours of four bits each.
func fillBzip2(was, plain []byte) []byte {
	if len(was) < len(bzip2Start) || len(plain) == 0 || len(plain) > maxBzip2 {
		return nil
	}
	out := writeBzip2(was[:len(bzip2Start)], plain, 0)
	if left := len(was) - len(out); left > 0 {
		return writeBzip2(was[:len(bzip2Start)], plain, 2*left)
	}
	return out
}

// bitWriter writes bits, the most significant one first.
type bitWriter struct {
	b    []byte
	free uint // bits of the last byte that are not used
}

func (w *bitWriter) write(v uint64, n int) {
	for n--; n >= 0; n-- {
		if w.free == 0 {
			w.b = append(w.b, 0)
			w.free = 8
		}
		w.free--
		w.b[len(w.b)-1] |= byte(v>>n&1) << w.free
	}
}

// The numbers that start a block and the end of a message.
const (
	bzip2Block = 0x314159265359
	bzip2End   = 0x177245385090
)

// writeBzip2 writes plain in one block after the start of a message, with so many detours.
func writeBzip2(start, plain []byte, detours int) []byte {
	w := &bitWriter{b: slices.Clone(start)}
	crc := bzip2CRC(plain)
	last, origin := transformed(shortRuns(plain))
	var used [256]bool
	for _, c := range last {
		used[c] = true
	}
	w.write(bzip2Block, 48)
	w.write(uint64(crc), 32)
	w.write(0, 1)
	w.write(uint64(origin), 24)
	writeUsed(w, &used)
	symbols, n := moveToFront(last, &used)
	counts := make([]int, n)
	for _, s := range symbols {
		counts[s]++
	}
	lengths := codeLengths(counts, maxCode)
	const perGroup = 50
	groups := (len(symbols) + perGroup - 1) / perGroup
	w.write(2, 3) // tables; the second one is not used
	w.write(uint64(groups), 15)
	w.write(0, groups)
	length := lengths[0]
	w.write(uint64(length), 5)
	for range detours {
		if length < maxCode {
			w.write(0b1011, 4)
		} else {
			w.write(0b1110, 4)
		}
	}
	for _, l := range lengths {
		for ; length < l; length++ {
			w.write(0b10, 2)
		}
		for ; length > l; length-- {
			w.write(0b11, 2)
		}
		w.write(0, 1)
	}
	w.write(uint64(bits.Len(uint(n-1))), 5)
	w.write(0, n)
	codes := codesOf(lengths)
	for _, s := range symbols {
		w.write(uint64(codes[s]), lengths[s])
	}
	w.write(bzip2End, 48)
	w.write(uint64(crc), 32) // of all blocks
	return w.b
}

// bzip2CRC returns the checksum of b: CRC-32 with the most significant bit first.
func bzip2CRC(b []byte) uint32 {
	crc := ^uint32(0)
	for _, c := range b {
		crc ^= uint32(c) << 24
		for range 8 {
			if crc>>31 != 0 {
				crc = crc<<1 ^ 0x04c11db7
			} else {
				crc <<= 1
			}
		}
	}
	return ^crc
}

// shortRuns writes four equal bytes and a count for each run of 4 to 255.
func shortRuns(b []byte) (out []byte) {
	for i := 0; i < len(b); {
		n := 1
		for i+n < len(b) && b[i+n] == b[i] && n < 255 {
			n++
		}
		for range min(n, 4) {
			out = append(out, b[i])
		}
		if n >= 4 {
			out = append(out, byte(n-4))
		}
		i += n
	}
	return out
}

// transformed returns the last bytes of all rotations of b in their order, and the place of b itself among them (Burrows, Wheeler).
func transformed(b []byte) (last []byte, origin int) {
	n := len(b)
	order, rank, next := make([]int, n), make([]int, n), make([]int, n)
	for i := range order {
		order[i], rank[i] = i, int(b[i])
	}
	for k := 0; ; k = max(1, 2*k) { // rotations are in order by their first k bytes
		slices.SortFunc(order, func(x, y int) int {
			if rank[x] != rank[y] {
				return rank[x] - rank[y]
			}
			return rank[(x+k)%n] - rank[(y+k)%n]
		})
		distinct := n
		for i, x := range order {
			if next[x] = i; i > 0 {
				if y := order[i-1]; rank[x] == rank[y] && rank[(x+k)%n] == rank[(y+k)%n] {
					next[x] = next[y]
					distinct--
				}
			}
		}
		copy(rank, next)
		if k >= n || distinct == n {
			break
		}
	}
	last = make([]byte, n)
	for i, x := range order {
		if last[i] = b[(x+n-1)%n]; x == 0 {
			origin = i
		}
	}
	return last, origin
}

// writeUsed writes which bytes occur.
func writeUsed(w *bitWriter, used *[256]bool) {
	var parts [16]uint64
	all := uint64(0)
	for c, on := range used {
		if on {
			parts[c>>4] |= 1 << (15 - c&15)
			all |= 1 << (15 - c>>4)
		}
	}
	w.write(all, 16)
	for _, part := range parts {
		if part != 0 {
			w.write(part, 16)
		}
	}
}

// moveToFront returns the symbols of bytes and their number: 0 and 1 are the digits of the length of a run of the byte at the front,
// the last symbol is the end.
func moveToFront(b []byte, used *[256]bool) (symbols []int, n int) {
	var list []byte
	for c, on := range used {
		if on {
			list = append(list, byte(c))
		}
	}
	end := len(list) + 1
	run := 0
	flush := func() {
		for ; run > 0; run = (run - 1) / 2 {
			symbols = append(symbols, (run-1)&1)
		}
	}
	for _, c := range b {
		at := slices.Index(list, c)
		if at == 0 {
			run++
			continue
		}
		flush()
		symbols = append(symbols, at+1)
		copy(list[1:], list[:at])
		list[0] = c
	}
	flush()
	return append(symbols, end), end + 1
}

// maxCode is the maximum length of a code, in bits.
const maxCode = 17

// codeLengths returns the lengths of Huffman's codes for symbols by their counts, of at most limit bits.
func codeLengths(counts []int, limit int) []int {
	weights := make([]int, len(counts))
	for i, c := range counts {
		weights[i] = max(c, 1)
	}
	for {
		type node struct{ weight, left, right int }
		nodes := make([]node, 0, 2*len(weights))
		leaves := make([]int, 0, len(weights)) // those that are not joined, the lightest first
		for i, w := range weights {
			leaves = append(leaves, i)
			nodes = append(nodes, node{w, -1, -1})
		}
		slices.SortStableFunc(leaves, func(x, y int) int { return weights[x] - weights[y] })
		joined := len(nodes) // the first one that is not joined with another one; each is as heavy as the one before, or heavier
		lightest := func() (i int) {
			if len(leaves) > 0 && (joined == len(nodes) || weights[leaves[0]] <= nodes[joined].weight) {
				i, leaves = leaves[0], leaves[1:]
				return i
			}
			joined++
			return joined - 1
		}
		for range len(weights) - 1 {
			x, y := lightest(), lightest()
			nodes = append(nodes, node{nodes[x].weight + nodes[y].weight, x, y})
		}
		lengths := make([]int, len(nodes))
		for i := len(nodes) - 1; i >= len(weights); i-- {
			lengths[nodes[i].left], lengths[nodes[i].right] = lengths[i]+1, lengths[i]+1
		}
		lengths = lengths[:len(weights)]
		if slices.Max(lengths) <= limit {
			return lengths
		}
		for i := range weights {
			weights[i] = weights[i]/2 + 1
		}
	}
}

// codesOf returns the codes of symbols with these lengths: shorter ones first, those of one length in the order of the symbols.
func codesOf(lengths []int) []int {
	codes := make([]int, len(lengths))
	code := 0
	for l := 1; l <= maxCode; l++ {
		for s, length := range lengths {
			if length == l {
				codes[s] = code
				code++
			}
		}
		code <<= 1
	}
	return codes
}
