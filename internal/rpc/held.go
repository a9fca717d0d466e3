package rpc

import "sort"

// Skip makes c the origin of what follows its first n bytes.
func (c *Chunk) Skip(n int) {
	if n > 0 {
		c.Pos += int64(n)
		c.Overhead = 0
	}
}

// Held is a chunk of which a buffer has bytes, from offset At on up to the next chunk.
type Held struct {
	Chunk
	At int
	// Write reports whether a write of the sender starts here: the packet before was not full.
	Write bool
}

// HeldChunks are the chunks of a buffer, in order.
type HeldChunks []Held

// End returns the offset where the bytes of chunk i end, in a buffer of size bytes.
func (h HeldChunks) End(i, size int) int {
	if i+1 < len(h) {
		return h[i+1].At
	}
	return size
}

// Find returns the index of the first chunk that starts at an offset or after it.
func (h HeldChunks) Find(at int) int {
	return sort.Search(len(h), func(i int) bool { return h[i].At >= at })
}

// Drop removes the first n of size bytes. It changes h.
func (h HeldChunks) Drop(n, size int) HeldChunks {
	kept := h[:0]
	for i, c := range h {
		if h.End(i, size) <= n {
			continue
		}
		c.Skip(n - c.At)
		c.At = max(0, c.At-n)
		kept = append(kept, c)
	}
	return kept
}
