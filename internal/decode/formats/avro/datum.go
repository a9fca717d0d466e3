package avro

import (
	"encoding/binary"
	"fmt"
	"math"

	"dubbo-wire/internal/decode"
)

// A shape is how the datum of a type is written.
type shape uint8

const (
	integer shape = iota + 1 // zigzag varint
	char                     // the same, a UTF-16 unit
	boolean                  // one byte
	float                    // four bytes, little-endian
	double                   // eight bytes, little-endian
	str                      // length, UTF-8
	number                   // the same, a decimal number
	noBytes                  // nothing: a record without fields
)

// shapes are the types whose runtime class does not matter, by JVM descriptor.
var shapes = map[string]shape{
	"I": integer, "S": integer, "B": integer, "J": integer, "C": char, "Z": boolean, "F": float, "D": double,
	"Ljava/lang/Integer;": integer, "Ljava/lang/Short;": integer, "Ljava/lang/Byte;": integer, "Ljava/lang/Long;": integer,
	"Ljava/lang/Character;": char, "Ljava/lang/Boolean;": boolean, "Ljava/lang/Float;": float, "Ljava/lang/Double;": double,
	"Ljava/lang/String;": str, "Ljava/lang/StringBuilder;": str, "Ljava/lang/StringBuffer;": str, "Ljava/lang/CharSequence;": str,
	"Ljava/net/URI;": str, "Ljava/net/URL;": str, "Ljava/io/File;": str,
	"Ljava/math/BigDecimal;": number, "Ljava/math/BigInteger;": number,
	"Ljava/util/Date;": noBytes, "Ljava/util/UUID;": noBytes, "Ljava/util/Locale;": noBytes, "Ljava/lang/Class;": noBytes, "Ljava/util/Optional;": noBytes,
	"Ljava/time/LocalDate;": noBytes, "Ljava/time/LocalTime;": noBytes, "Ljava/time/LocalDateTime;": noBytes, "Ljava/time/Instant;": noBytes,
	"Ljava/time/Duration;": noBytes, "Ljava/time/OffsetDateTime;": noBytes, "Ljava/time/ZonedDateTime;": noBytes, "Ljava/time/Year;": noBytes,
	"Ljava/time/YearMonth;": noBytes, "Ljava/time/MonthDay;": noBytes, "Ljava/time/Period;": noBytes, "Ljava/time/OffsetTime;": noBytes,
	"Ljava/time/ZoneId;": noBytes, "Ljava/time/ZoneOffset;": noBytes, "Ljava/sql/Timestamp;": noBytes, "Ljava/sql/Date;": noBytes,
	"Ljava/util/OptionalInt;": noBytes, "Ljava/util/Currency;": noBytes, "Ljava/util/BitSet;": noBytes, "Ljava/util/regex/Pattern;": noBytes,
	"Ljava/util/concurrent/atomic/AtomicInteger;": noBytes, "Ljava/util/concurrent/atomic/AtomicLong;": noBytes,
	"Ljava/util/concurrent/atomic/AtomicBoolean;": noBytes,
}

// datum takes one value of a declared type.
func (r *Reader) datum(l decode.Label, name string, index int, typ string) {
	if typ == "[B" {
		raw := r.bytes("bytes")
		r.FillRaw(r.Leaf(decode.Bytes, l, name, index), raw)
		return
	}
	if len(typ) > 1 && typ[0] == '[' {
		r.array(l, name, index, typ[1:])
		return
	}
	switch shapes[typ] {
	case integer:
		v := r.long("a number")
		r.Leaf(decode.Int, l, name, index).SetNum(v)
	case char:
		v := r.long("a char")
		if n := r.Leaf(decode.Char, l, name, index); n != nil && r.Values() {
			n.Text = string(rune(uint16(v)))
		}
	case boolean:
		v := r.Byte("a boolean")
		r.Leaf(decode.Bool, l, name, index).SetBool(v != 0)
	case float:
		v := math.Float32frombits(uint32(r.Little(4, "a float")))
		r.Leaf(decode.Float32, l, name, index).SetFloat(float64(v))
	case double:
		v := math.Float64frombits(r.Little(8, "a double"))
		r.Leaf(decode.Float64, l, name, index).SetFloat(v)
	case str:
		raw := r.bytes("a string")
		r.FillUTF8(r.Leaf(decode.String, l, name, index), raw)
	case number:
		raw := r.bytes("a number")
		r.FillUTF8(r.Leaf(decode.Decimal, l, name, index), raw)
	case noBytes:
		r.Leaf(decode.Opaque, l, name, index)
	default:
		r.Fail(decode.Unsupported, "the fields of class "+decode.JavaName(typ), "fields that cannot be separated without the class definition")
	}
}

// array takes blocks of items, each with its count, up to an empty one. A negative count is followed by the size of its
// block.
func (r *Reader) array(l decode.Label, name string, index int, elem string) {
	if len(elem) > 1 && elem[0] != '[' && (shapes[elem] == 0 || shapes[elem] == noBytes) {
		r.Fail(decode.Unsupported, "elements of class "+decode.JavaName(elem), "fields that cannot be separated without the class definition")
		return
	}
	r.Open(decode.List, l, name, index)
	if !r.Enter() {
		return
	}
	for i := 0; r.OK(); {
		n := r.long("the number of elements")
		if n < 0 {
			n = -n
			r.long("the size of a block")
		}
		r.Role("length")
		if n == 0 || !r.OK() {
			break
		}
		if n < 0 || n > int64(r.Left()) {
			r.Need(int(min(uint64(n), math.MaxInt32)), fmt.Sprintf("%d elements", n))
			break
		}
		for ; n > 0 && r.OK(); n-- {
			r.datum(decode.ByIndex, "", i, elem)
			i++
		}
	}
	r.Leave()
	r.Close()
}

// long takes a zigzag varint of up to ten bytes.
func (r *Reader) long(what string) int64 {
	v, size := varint(r.Buf[r.Off:])
	if size == 0 {
		if r.Left() >= 10 {
			r.Fail(decode.Malformed, what, "a number of more than 64 bits")
		}
		r.Need(r.Left()+1, what)
		return 0
	}
	r.Skip(size, what)
	return unzigzag(v)
}

// bytes takes a length and that many bytes.
func (r *Reader) bytes(what string) []byte {
	n := r.long(what)
	if n < 0 {
		r.Fail(decode.Malformed, what+" of a length from 0", fmt.Sprint(n))
		return nil
	}
	return r.Bytes(int(min(n, math.MaxInt32)), what)
}

// varint reads seven bits per byte, the low ones first; size is 0 where it does not end.
func varint(b []byte) (v uint64, size int) {
	v, size = binary.Uvarint(b)
	return v, max(size, 0)
}

func unzigzag(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }
