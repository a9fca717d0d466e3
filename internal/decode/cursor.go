package decode

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Cursor reads a body from front to back. It carries its first error: after one, every read returns zero and the
// offset stays at the byte that was not taken, so decoders read straight through and check Err once. Every read
// checks the length before it indexes.
type Cursor struct {
	Buf []byte // borrowed
	Off int    // next byte to read
	// Short is the cause reported when Buf ends early: Malformed for a whole body, Cut or Lost for an incomplete one.
	Short Cause
	err   *Error
}

// Reset points the cursor at the first byte of buf and forgets the error.
func (c *Cursor) Reset(buf []byte, short Cause) {
	if short == None {
		short = Malformed
	}
	*c = Cursor{Buf: buf, Short: short}
}

// Err returns the first error, or nil.
func (c *Cursor) Err() *Error { return c.err }

// OK reports whether nothing has failed yet.
func (c *Cursor) OK() bool { return c.err == nil }

// Left returns the number of bytes not read yet; 0 after an error.
func (c *Cursor) Left() int {
	if c.err != nil {
		return 0
	}
	return len(c.Buf) - c.Off
}

// Fail records err as the first error, at the current offset.
func (c *Cursor) Fail(cause Cause, expected, found string) {
	c.FailAt(c.Off, cause, expected, found)
}

// FailAt is Fail at another offset.
func (c *Cursor) FailAt(at int, cause Cause, expected, found string) {
	if c.err == nil {
		c.err = &Error{Cause: cause, At: at, Expected: expected, Found: found}
		c.Off = at
	}
}

// FailWith records a copy of err as the first error, at the current offset.
func (c *Cursor) FailWith(err *Error) {
	if c.err == nil {
		own := *err
		own.At = c.Off
		c.err = &own
	}
}

// Need reports whether n more bytes are there; if not, the cursor fails with its Short cause, naming what was wanted.
func (c *Cursor) Need(n int, what string) bool {
	if c.err == nil && uint(n) <= uint(len(c.Buf)-c.Off) {
		return true
	}
	return c.lack(n, what)
}

// lack fails because n more bytes are not there. It is a function of its own so that its callers can be inlined.
func (c *Cursor) lack(n int, what string) bool {
	if c.err == nil {
		found := " bytes to the end of the body"
		if c.Short != Malformed {
			found = " captured bytes"
		}
		c.Fail(c.Short, what+" ("+strconv.Itoa(n)+" bytes)", strconv.Itoa(len(c.Buf)-c.Off)+found) // cut bodies are frequent
	}
	return false
}

// noByte is the slow path of Byte, which is inlined.
//
//go:noinline
func (c *Cursor) noByte(what string) byte {
	c.lack(1, what)
	return 0
}

// Peek returns the next byte without taking it; ok is false at the end or after an error (and nothing fails).
func (c *Cursor) Peek() (b byte, ok bool) {
	if c.err != nil || c.Off >= len(c.Buf) {
		return 0, false
	}
	return c.Buf[c.Off], true
}

// Byte takes one byte.
func (c *Cursor) Byte(what string) byte {
	if c.err == nil && c.Off < len(c.Buf) {
		b := c.Buf[c.Off]
		c.Off++
		return b
	}
	return c.noByte(what)
}

// Bytes takes n bytes; the result is borrowed.
func (c *Cursor) Bytes(n int, what string) []byte {
	if c.err == nil && uint(n) <= uint(len(c.Buf)-c.Off) {
		b := c.Buf[c.Off : c.Off+n : c.Off+n]
		c.Off += n
		return b
	}
	c.lack(n, what)
	return nil
}

// Skip takes n bytes and drops them.
func (c *Cursor) Skip(n int, what string) {
	if c.err == nil && uint(n) <= uint(len(c.Buf)-c.Off) {
		c.Off += n
		return
	}
	c.lack(n, what)
}

// U16 takes two bytes, big-endian.
func (c *Cursor) U16(what string) uint16 {
	if b := c.Bytes(2, what); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// U32 takes four bytes, big-endian.
func (c *Cursor) U32(what string) uint32 {
	if b := c.Bytes(4, what); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// U64 takes eight bytes, big-endian.
func (c *Cursor) U64(what string) uint64 {
	if b := c.Bytes(8, what); b != nil {
		return binary.BigEndian.Uint64(b)
	}
	return 0
}

// Little takes a number of n bytes, up to eight, little-endian.
func (c *Cursor) Little(n int, what string) (v uint64) {
	for i, b := range c.Bytes(n, what) {
		v |= uint64(b) << (8 * i)
	}
	return v
}

// Varint9 takes a number of one to nine bytes: seven bits in each, the low ones first, and eight in the ninth.
func (c *Cursor) Varint9(what string) uint64 {
	var v uint64
	for shift := 0; shift < 56; shift += 7 {
		b := c.Byte(what)
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	return v | uint64(c.Byte(what))<<56
}

// ShortVarint takes such a number of one byte or two, as most are; else it takes nothing and ok is false.
func (c *Cursor) ShortVarint() (n int, ok bool) {
	b := c.Buf[c.Off:]
	switch {
	case len(b) > 0 && b[0] < 0x80:
		c.Off++
		return int(b[0]), true
	case len(b) > 1 && b[1] < 0x80:
		c.Off += 2
		return int(b[0]&0x7f) | int(b[1])<<7, true
	}
	return 0, false
}

// VarintSize returns the size of the number of seven bits a byte at an offset of b, 9 for one of more than 8 bytes and where b ends
// before 8 bytes. It has no loop, of which a processor would have to foresee how often it runs.
func VarintSize(b []byte, at int) int {
	if at < 0 || at > len(b)-8 {
		return 9
	}
	const high = 0x8080808080808080
	return bits.TrailingZeros64(^binary.LittleEndian.Uint64(b[at:at+8:len(b)])&high)/8 + 1
}
