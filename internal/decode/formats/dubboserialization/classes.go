package dubboserialization

import (
	"bytes"
	"strings"

	"dubbo-wire/internal/decode"
)

// form is how the data of a class are written.
type form uint8

const (
	byTag     form = iota // a class of the application: its data start with a tag for their form
	boolean               // one byte
	number                // box of an integer
	character             // box
	float                 // box
	double                // box
	date                  // a number of milliseconds
	str                   // characters
	bytes1                // byte[]
	array                 // elements in the form of the component class, or with descriptors
	list                  // elements with descriptors
	mapping               // keys and values with descriptors
	tailed                // fields, then as many elements as a number says, with descriptors
	tailedMap             // fields, then keys and values
	plain                 // only fields
	bigInteger

	// Components of arrays.
	rawBool
	rawNumber
	rawChar
	rawFloat
	rawDouble
)

// class is a class, known by its descriptor.
type class struct {
	desc []byte
	form form
}

// descriptors are those with a number, in its order (Builder.mDescList).
var descriptors = [...]string{
	"[Z", "[B", "[C", "[S", "[I", "[J", "[F", "[D",
	"Ljava/lang/Boolean;", "Ljava/lang/Byte;", "Ljava/lang/Character;", "Ljava/lang/Short;", "Ljava/lang/Integer;",
	"Ljava/lang/Long;", "Ljava/lang/Float;", "Ljava/lang/Double;", "Ljava/lang/String;", "[Ljava/lang/String;",
	"Ljava/util/ArrayList;", "Ljava/util/HashMap;", "Ljava/util/HashSet;", "Ljava/util/Date;", "Ljava/sql/Date;",
	"Ljava/sql/Time;", "Ljava/sql/Timestamp;", "Ljava/util/LinkedList;", "Ljava/util/LinkedHashMap;", "Ljava/util/LinkedHashSet;",
}

// numbered are the classes of descriptors.
var numbered = func() (c [len(descriptors)]class) {
	for i, d := range descriptors {
		c[i] = classOf([]byte(d))
	}
	return c
}()

// forms are the classes that Builder has writers for. Everything else is written by its fields.
var forms = map[string]form{
	"Ljava/lang/Boolean;":       boolean,
	"Ljava/lang/Byte;":          number,
	"Ljava/lang/Short;":         number,
	"Ljava/lang/Integer;":       number,
	"Ljava/lang/Long;":          number,
	"Ljava/lang/Character;":     character,
	"Ljava/lang/Float;":         float,
	"Ljava/lang/Double;":        double,
	"Ljava/lang/String;":        str,
	"Ljava/lang/StringBuilder;": str,
	"Ljava/lang/StringBuffer;":  str,
	"Ljava/util/Date;":          date,
	"Ljava/sql/Date;":           date,
	"Ljava/sql/Time;":           date,
	"Ljava/sql/Timestamp;":      date,
	"Ljava/util/ArrayList;":     list,
	"Ljava/util/HashSet;":       list,
	"Ljava/util/HashMap;":       mapping,
	"Ljava/math/BigInteger;":    bigInteger,

	"Z": rawBool, "B": rawNumber, "S": rawNumber, "I": rawNumber, "J": rawNumber, "C": rawChar, "F": rawFloat, "D": rawDouble,
	"[B": bytes1,
}

// classOf returns the class of a descriptor, which it borrows.
func classOf(desc []byte) class {
	c := class{desc: desc}
	switch f, ok := forms[string(desc)]; {
	case ok:
		c.form = f
	case len(desc) > 0 && desc[0] == '[':
		c.form = array
	default:
		c.form = ofJDK(desc)
	}
	return c
}

// element returns the component class of an array.
func (c class) element() class {
	if len(c.desc) < 2 {
		return class{}
	}
	return classOf(c.desc[1:])
}

// ofJDK returns the form of a class of the JDK by its name: the elements of its collections follow their fields.
func ofJDK(desc []byte) form {
	if !bytes.HasPrefix(desc, []byte("Ljava/")) && !bytes.HasPrefix(desc, []byte("Ljavax/")) {
		return byTag
	}
	if !bytes.HasPrefix(desc, []byte("Ljava/util/")) {
		return plain
	}
	return suffixed(desc, plain)
}

// suffixed guesses by the name of a class whether it is a collection.
func suffixed(desc []byte, otherwise form) form {
	for _, s := range [...]string{"Map;", "Hashtable;", "Properties;"} {
		if bytes.HasSuffix(desc, []byte(s)) {
			return tailedMap
		}
	}
	for _, s := range [...]string{"List;", "Set;", "Queue;", "Deque;", "Vector;", "Stack;"} {
		if bytes.HasSuffix(desc, []byte(s)) {
			return tailed
		}
	}
	return otherwise
}

// descriptor reports whether b can be the descriptor of an object's class.
func descriptor(b []byte) bool {
	dims := 0
	for dims < len(b) && b[dims] == '[' {
		dims++
	}
	rest := b[dims:]
	if len(rest) == 1 {
		return dims > 0 && strings.IndexByte("ZBCSIJFD", rest[0]) >= 0
	}
	return len(rest) > 2 && dims < 256 && rest[0] == 'L' && rest[len(rest)-1] == ';'
}

// Bounds of the class names that are kept from body to body: their number, and the bytes of each.
const (
	maxNames = 1 << 12
	maxKept  = 128
)

// className returns the source form of a descriptor.
func (r *Reader) className(desc []byte) string {
	if s, ok := r.names[string(desc)]; ok {
		return s
	}
	s := decode.JavaName(text{raw: desc, wide: true}.decode())
	if r.names == nil || len(r.names) >= maxNames {
		r.names = make(map[string]string)
	}
	if len(desc) <= maxKept {
		r.names[string(desc)] = s
	}
	return s
}

// countTypes returns the number of concatenated descriptors of parameters, -1 when b is something else.
func countTypes(b []byte) (n int) {
	for len(b) > 0 {
		dims := 0
		for dims < len(b) && b[dims] == '[' {
			dims++
		}
		b = b[dims:]
		end := 0
		if len(b) > 0 && b[0] == 'L' {
			end = bytes.IndexByte(b, ';')
		}
		if len(b) == 0 || end < 0 {
			return -1
		}
		b = b[end+1:]
		n++
	}
	return n
}
