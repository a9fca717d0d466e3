package fastjson2

import (
	"fmt"
	"strconv"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// First bytes of integers. Numbers keep their Java type: byte, short, int and long differ.
const (
	opIntMax     = 0x2f // 00-2f: the number itself
	opInt12      = 0x30 // 30-3f, 0x38 is zero: and a byte
	opInt12Zero  = 0x38
	opInt19      = 0x40 // 40-47, 0x44 is zero: and two bytes
	opInt19Zero  = 0x44
	opInt32      = 0x48
	opInt16      = 0xbc
	opInt8       = 0xbd
	opInt64      = 0xbe
	opInt64Int   = 0xbf
	opLong19     = 0xc0 // c0-c7, as 40-47
	opLong19Zero = 0xc4
	opLong12     = 0xc8 // c8-d7, as 30-3f
	opLong12Zero = 0xd0
	opLong       = 0xd8 // d8-ef: -8 to 15
	opIntMin     = 0xf0 // f0-ff: -16 to -1
)

// maxBigInt limits the numbers that are converted to decimal, in bytes, since that takes more than linear time.
const maxBigInt = 1 << 14

func isInteger(op byte) bool { return op <= opInt32 || op >= opInt16 }

// integer takes an integer of any width.
func (r *Reader) integer(what string) int64 {
	op := r.Byte(what)
	if r.OK() && !isInteger(op) {
		r.FailAt(r.Off-1, decode.Malformed, what, found(op))
	}
	return integerOf(&r.Cursor, op, what)
}

// int32 takes an int that is not a value but a length or a number within one.
func (r *Reader) int32(what string) int32 {
	if op, _ := r.Peek(); op > opInt32 && op < opIntMin {
		r.Fail(decode.Malformed, what, found(op))
		return 0
	}
	return int32(r.integer(what))
}

// size takes a length.
func (r *Reader) size(what string) int {
	start := r.Off
	n := r.int32(what)
	if n < 0 {
		r.FailAt(start, decode.Malformed, what, strconv.Itoa(int(n)))
		return 0
	}
	return int(n)
}

// integerOf takes the bytes after op and returns the integer.
func integerOf(r *decode.Cursor, op byte, what string) int64 {
	switch {
	case !r.OK():
		return 0
	case op <= opIntMax, op >= opIntMin:
		return int64(int8(op))
	case op < opInt19:
		return (int64(op)-opInt12Zero)<<8 + int64(r.Byte(what))
	case op < opInt32:
		return (int64(op)-opInt19Zero)<<16 + int64(r.U16(what))
	case op == opInt32, op == opInt64Int:
		return int64(int32(r.U32(what)))
	case op == opInt16:
		return int64(int16(r.U16(what)))
	case op == opInt8:
		return int64(int8(r.Byte(what)))
	case op == opInt64:
		return int64(r.U64(what))
	case op < opLong12:
		return (int64(op)-opLong19Zero)<<16 + int64(r.U16(what))
	case op < opLong:
		return (int64(op)-opLong12Zero)<<8 + int64(r.Byte(what))
	}
	return int64(op) - opLong - 8
}

// integerClass returns the class of an integer that begins with op, "" for an Integer.
func integerClass(op byte) string {
	switch {
	case op == opInt8:
		return "java.lang.Byte"
	case op == opInt16:
		return "java.lang.Short"
	case op >= opInt64 && op < opLong+24:
		return "java.lang.Long"
	}
	return ""
}

// decimal takes a big integer or a decimal number: a scale and the digits as an integer of any width.
func (r *Reader) decimal(op byte, s *scalar) {
	scale := int32(0)
	if op == opDecimal {
		scale = r.int32("the scale of a decimal")
		op, _ = r.Peek()
		if op == opBigInt || op == opBigIntLong {
			r.Off++
		} else {
			op = opBigIntLong
		}
	}
	if op != opBigInt {
		v := r.integer("the digits of a decimal")
		if r.OK() && r.wanted() {
			s.text = jdk.Decimal(strconv.FormatInt(v, 10), scale)
		}
		return
	}
	n := r.size("the length of a big integer")
	if r.Need(n, "a big integer") && n > maxBigInt {
		r.Fail(decode.Limit, fmt.Sprintf("a number of at most %d bytes", maxBigInt), fmt.Sprintf("one of %d", n))
	}
	b := r.Bytes(n, "a big integer")
	if r.OK() && r.wanted() {
		s.text = jdk.Decimal(jdk.Signed(b).String(), scale)
	}
}
