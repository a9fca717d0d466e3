package avro

import (
	"math"
	"slices"
	"strings"
)

// A kind is how the datum of a schema is written.
type kind uint8

const (
	integer kind = iota + 1 // zigzag varint
	char                    // the same, a UTF-16 unit
	boolean                 // one byte
	float                   // four bytes, little-endian
	double                  // eight bytes, little-endian
	str                     // length, UTF-8
	number                  // the same, a decimal number
	raw                     // length, bytes
	nothing                 // no bytes: a record without fields
	null                    // no bytes: a branch of a union
	date                    // a varint, milliseconds since 1970
	array                   // blocks of items
	mapping                 // blocks of texts and values
	pairs                   // a map as an array of records with a key and a value
	record                  // its fields
	enum                    // the ordinal, a varint
	fixed                   // bytes
	union                   // the number of a branch, its datum
	unknown                 // the class is not known
	never                   // cannot be written
)

// A schema says how values of a class are written. It does not change once the class was looked up, and may contain itself.
type schema struct {
	kind kind
	// class is what Class.getName returns, of a record, an enum or a fixed; that of the missing class if it is unknown.
	class  string
	fields []field
	// symbols are the constants of an enum, by ordinal.
	symbols []string
	// elem is the schema of items, or of the values of a map; key that of the keys of pairs.
	elem, key *schema
	branches  []*schema
	size      int    // of a fixed
	bounds    bounds // of an integer
	// why says why it is unknown or never written, if no class is missing.
	why string
	// own: it is of the application, and so may be another one in the writer's version.
	own bool
	// What the schema contains, itself included, after finish was called: something unknown; something that cannot be written, and
	// then no value can; a class whose fields another release writes in another order.
	incomplete *schema
	impossible bool
	reordered  bool
	finished   bool
}

// field is a field of a record.
type field struct {
	name   string
	schema *schema
}

// bounds are the least and the greatest number of a type.
type bounds struct{ low, high int64 }

var (
	ints   = &schema{kind: integer, bounds: bounds{math.MinInt32, math.MaxInt32}}
	shorts = &schema{kind: integer, bounds: bounds{math.MinInt16, math.MaxInt16}}
	bytes1 = &schema{kind: integer, bounds: bounds{math.MinInt8, math.MaxInt8}}
	longs  = &schema{kind: integer, bounds: bounds{math.MinInt64, math.MaxInt64}}
	chars  = &schema{kind: char, bounds: bounds{0, math.MaxUint16}}

	booleans = &schema{kind: boolean}
	floats   = &schema{kind: float}
	doubles  = &schema{kind: double}
	texts    = &schema{kind: str}
	numbers  = &schema{kind: number}
	blobs    = &schema{kind: raw}
	dates    = &schema{kind: date}
	nulls    = &schema{kind: null}
	voids    = &schema{kind: nothing}
)

// maybeText is the message of an exception.
var maybeText = &schema{kind: union, branches: []*schema{nulls, texts}}

// builtin are the types whose runtime class does not matter, by JVM descriptor.
var builtin = map[string]*schema{
	"I": ints, "S": shorts, "B": bytes1, "J": longs, "C": chars, "Z": booleans, "F": floats, "D": doubles,
	"Ljava/lang/Integer;": ints, "Ljava/lang/Short;": shorts, "Ljava/lang/Byte;": bytes1, "Ljava/lang/Long;": longs,
	"Ljava/lang/Character;": chars, "Ljava/lang/Boolean;": booleans, "Ljava/lang/Float;": floats, "Ljava/lang/Double;": doubles,
	"Ljava/lang/String;": texts, "Ljava/lang/StringBuilder;": texts, "Ljava/lang/StringBuffer;": texts, "Ljava/lang/CharSequence;": texts,
	"Ljava/net/URI;": texts, "Ljava/net/URL;": texts, "Ljava/io/File;": texts,
	"Ljava/math/BigDecimal;": numbers, "Ljava/math/BigInteger;": numbers,
	"Ljava/util/Date;": voids, "Ljava/util/UUID;": voids, "Ljava/util/Locale;": voids, "Ljava/lang/Class;": voids, "Ljava/util/Optional;": voids,
	"Ljava/time/LocalDate;": voids, "Ljava/time/LocalTime;": voids, "Ljava/time/LocalDateTime;": voids, "Ljava/time/Instant;": voids,
	"Ljava/time/Duration;": voids, "Ljava/time/OffsetDateTime;": voids, "Ljava/time/ZonedDateTime;": voids, "Ljava/time/Year;": voids,
	"Ljava/time/YearMonth;": voids, "Ljava/time/MonthDay;": voids, "Ljava/time/Period;": voids, "Ljava/time/OffsetTime;": voids,
	"Ljava/time/ZoneId;": voids, "Ljava/time/ZoneOffset;": voids, "Ljava/sql/Timestamp;": voids, "Ljava/sql/Date;": voids,
	"Ljava/util/OptionalInt;": voids, "Ljava/util/Currency;": voids, "Ljava/util/BitSet;": voids, "Ljava/util/regex/Pattern;": voids,
	"Ljava/util/concurrent/atomic/AtomicInteger;": voids, "Ljava/util/concurrent/atomic/AtomicLong;": voids,
	"Ljava/util/concurrent/atomic/AtomicBoolean;": voids,
}

// finish finds out what a schema contains. Its classes must have been looked up.
func (s *schema) finish() {
	if s.finished {
		return
	}
	seen := map[*schema]bool{s: true}
	var incomplete *schema
	reordered, impossible := false, false
	for queue := []*schema{s}; len(queue) > 0; queue = queue[1:] {
		next := queue[0]
		next.settle()
		reordered = reordered || next.reordered
		impossible = impossible || next.kind == never
		if next.kind == unknown && incomplete == nil {
			incomplete = next
		}
		next.each(func(of *schema) {
			if !seen[of] {
				seen[of] = true
				queue = append(queue, of)
			}
		})
	}
	s.incomplete, s.impossible, s.reordered, s.finished = incomplete, impossible, reordered, true
}

// each calls f for what a schema is made of.
func (s *schema) each(f func(*schema)) {
	for i := range s.fields {
		f(s.fields[i].schema)
	}
	for _, b := range s.branches {
		f(b)
	}
	if s.elem != nil {
		f(s.elem)
	}
	if s.key != nil {
		f(s.key)
	}
}

// nullable returns a schema whose values may be null, as @Nullable makes it. It may be made of a union that is not known yet.
func nullable(s *schema) *schema { return &schema{kind: union, elem: s} }

// settle makes the branches of what nullable returned.
func (s *schema) settle() {
	of := s.elem
	if s.kind != union || of == nil {
		return
	}
	s.elem, s.branches = nil, []*schema{nulls, of}
	if of.kind == union {
		of.settle()
		s.branches = of.branches
		if !slices.ContainsFunc(of.branches, func(b *schema) bool { return b.kind == null }) {
			s.branches = append([]*schema{nulls}, of.branches...)
		}
	}
}

// order is the order in which the fields of a class are written.
type order uint8

const (
	declared order = iota // Avro before 1.10
	sorted                // since 1.10, by name
)

// maxDimensions is the JVM's limit for arrays.
const maxDimensions = 255

// builtinArray returns the schema of an array of what is built in, nil for another type.
func builtinArray(typ string) *schema {
	elem := strings.TrimLeft(typ, "[")
	s := builtin[elem]
	if s == nil || s == voids || len(typ)-len(elem) > maxDimensions {
		return nil
	}
	return arrayOf(s, elem, len(typ)-len(elem))
}

// arrayOf returns the schema of an array with some dimensions of elements.
func arrayOf(s *schema, elem string, dimensions int) *schema {
	if elem == "B" && dimensions > 0 {
		s, dimensions = blobs, dimensions-1
	}
	for range dimensions {
		s = &schema{kind: array, elem: s}
	}
	return s
}

// least returns the fewest bytes that a value may surely not be without, 0 or 1.
func (s *schema) least() int {
	switch s.kind {
	case nothing, null, record, fixed:
		return 0
	}
	return 1
}
