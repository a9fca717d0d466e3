package java

import (
	"encoding/binary"
	"fmt"

	"dubbo-wire/internal/decode"
)

// Block data (specification, 5.2 and 6.4.2): blockdatashort = TC_BLOCKDATA (byte)size data, blockdatalong =
// TC_BLOCKDATALONG (int)size data. ObjectOutputStream cuts a block at 1024 bytes and before every object.

// data takes the next n bytes of block data. They are borrowed, or valid until the next call when they lay in several
// blocks.
func (r *Reader) data(n int, what string) []byte {
	r.nextBlock(what)
	if !r.OK() {
		return nil
	}
	if n <= r.block {
		r.block -= n
		return r.Bytes(n, what)
	}
	if !r.Need(n, what) {
		return nil
	}
	r.scratch = r.scratch[:0]
	for n > 0 && r.OK() {
		k := min(n, r.block)
		r.scratch = append(r.scratch, r.Bytes(k, what)...)
		r.block -= k
		n -= k
		if n > 0 {
			r.nextBlock(what)
		}
	}
	return r.scratch
}

// skipData skips the next n bytes of block data.
func (r *Reader) skipData(n int, what string) {
	for n > 0 && r.OK() {
		r.nextBlock(what)
		k := min(n, r.block)
		r.Skip(k, what)
		r.block -= k
		n -= k
	}
}

// nextBlock takes the head of the next block when the current one is used up.
func (r *Reader) nextBlock(what string) {
	for r.block == 0 && r.OK() {
		if r.Pending() > 0 {
			r.piece()
		}
		switch tc := r.Byte(what); {
		case !r.OK():
		case tc == tcBlockData || tc == tcBlockDataLong:
			at := r.Off - 1
			r.block = r.blockLen(tc)
			if r.OK() && r.block > r.Left() && r.Short == decode.Malformed {
				r.FailAt(at, decode.Malformed, "a block of data that ends within the body", fmt.Sprintf("a block of %d bytes, with %d to the end of the body", r.block, r.Left()))
			}
			r.Role("block")
		case tc == tcReset:
			r.Off--
			r.restart()
		default:
			r.FailAt(r.Off-1, decode.Malformed, what+" in a block", foundTag(tc))
		}
	}
}

// restart takes any number of TC_RESET, which stand between values only: handles start from the first again.
func (r *Reader) restart() {
	for tc, _ := r.Peek(); tc == tcReset; tc, _ = r.Peek() {
		r.Off++
		r.handles = r.handles[:0]
		clear(r.texts)
	}
	r.Role("reset")
}

func (r *Reader) blockLen(tc byte) int {
	if tc == tcBlockData {
		return int(r.Byte("the size of a block"))
	}
	b := r.Bytes(4, "the size of a block")
	if !r.OK() {
		return 0
	}
	n := int32(binary.BigEndian.Uint32(b))
	if n < 0 {
		r.FailAt(r.Off-4, decode.Malformed, "the size of a block", fmt.Sprintf("%d", n))
	}
	return int(n)
}

// piece gives the bytes read so far to the field that is being read from block data.
func (r *Reader) piece() {
	if r.field != "" {
		r.Leaf(decode.String, decode.ByField, r.field, 0)
	}
}
