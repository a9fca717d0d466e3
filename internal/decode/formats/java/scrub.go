package java

import (
	"encoding/binary"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/wire"
)

// Scrub replaces a value as Java's data streams write it. A text that crosses blocks of data has their marks and lengths in
// it.
func Scrub(b []byte, n *decode.Node, m decode.Mapper) bool {
	if n.Kind != decode.String || len(b) <= len(n.Text) {
		return wire.Shared(b, n, m)
	}
	return wire.UTF8(b, n, m) || scrubBlocks(b, n, m) || wire.Shared(b, n, m)
}

// scrubBlocks replaces a text with blocks in it.
func scrubBlocks(b []byte, n *decode.Node, m decode.Mapper) bool {
	const most = 64 // places that are tried
	tried := 0
	for at := 1; at < len(b) && tried < most; at++ {
		head, _ := blockAt(b[at:])
		if head == 0 {
			continue
		}
		content, marks := b[:at:at], [][2]int{}
		for from := at; from < len(b); {
			head, size := blockAt(b[from:])
			if head == 0 {
				marks = nil
				break
			}
			marks = append(marks, [2]int{from, from + head})
			end := min(from+head+size, len(b))
			content = append(content, b[from+head:end]...)
			from = end
		}
		if marks == nil {
			continue
		}
		if tried++; !wire.UTF8(content, n, m) {
			continue
		}
		to := 0
		for _, mark := range append(marks, [2]int{len(b), len(b)}) {
			content = content[copy(b[to:mark[0]], content):]
			to = mark[1]
		}
		return true
	}
	return false
}

// blockAt returns the lengths of head and content of the block of data at the start of b, 0 if there is none.
func blockAt(b []byte) (head, size int) {
	const maxBlock = 1 << 20
	switch {
	case b[0] == 0x77 && len(b) >= 2:
		return 2, int(b[1])
	case b[0] == 0x7a && len(b) >= 5:
		if size := binary.BigEndian.Uint32(b[1:]); size > 0 && size <= maxBlock {
			return 5, int(size)
		}
	}
	return 0, 0
}
