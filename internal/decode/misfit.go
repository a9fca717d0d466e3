package decode

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Misfit says that the objects of a body do not fit the classes of the class path: the writer had other versions of them, or the body has
// something that this program cannot read.
type Misfit struct {
	// Class and Field are where reading with these classes stopped; empty where that was not in an object. Names are in source form.
	Class, Field string
	// Writer is the peer that wrote the body.
	Writer Side
	// At is the offset in the body where it stopped, Expected and Found what was wrong there.
	At              int
	Expected, Found string
	// Causes are changes of one class after which the whole body fits, each of them alone: any may be what happened. Of more than
	// [MaxCauses] only these are kept, and Others counts the rest.
	Causes []ClassChange
	Others int
	// OtherSide: the body fits the classes of the other peer.
	OtherSide bool
	// Schema: Class is a message of protocol buffers, and Field the name of a field in JSON, or # and its number. NotDeclared: the schema does
	// not have that field; all others are as in it.
	Schema, NotDeclared bool
	// Listed: a list of registered classes says which class a number of the body is; it may be that list that does not fit.
	Listed bool
}

// MaxCauses is the maximum number of causes that a Misfit names.
const MaxCauses = 4

// ClassChange is a difference between the writer's version of a class and the one in the class path.
type ClassChange struct {
	// Class is the name of the class in source form.
	Class string
	// Added: the writer's class has another field, of type Type. Retyped: Field has that type there. Otherwise Field is not in it.
	Added, Retyped bool
	// Field is the name of the field. If Added, it is the one after which the other one is written, or before which if Before.
	Field  string
	Before bool
	// Type is "a String", "an int" …
	Type string
}

// has says what the writer's class has.
func (c *ClassChange) has() string {
	switch {
	case c.Retyped:
		return "field " + c.Field + " as " + c.Type
	case !c.Added:
		return "no field " + c.Field
	case c.Field == "":
		return "a field (" + c.Type + ")"
	case c.Before:
		return "another field (" + c.Type + ") before " + c.Field
	}
	return "another field (" + c.Type + ") after " + c.Field
}

// Text says what may be the cause, "" if no change of one field is.
func (m *Misfit) Text() string {
	if m.OtherSide {
		return "the body fits the classes of the " + (1 - m.Writer).String()
	}
	var w strings.Builder
	for i := range m.Causes {
		c := &m.Causes[i]
		if i > 0 {
			w.WriteString(", or ")
		}
		if i == 0 || m.Causes[i-1].Class != c.Class {
			w.WriteString("the writer's " + c.Class + " has ")
		}
		w.WriteString(c.has())
	}
	switch {
	case m.Others == 1:
		w.WriteString(" (1 more change fits)")
	case m.Others > 1:
		w.WriteString(" (" + strconv.Itoa(m.Others) + " more changes fit)")
	}
	return w.String()
}

// Reason says what the body does not fit, why that may be, and what to do.
func (m *Misfit) Reason() string {
	if m.Schema {
		return m.schemaReason()
	}
	what, why, advice := "class "+m.Class+" of the class path", "another version of it", "pass the jar of the "+m.Writer.String()+": --classpath "+m.Writer.String()+"=PATH"
	cause := m.Text()
	switch {
	case m.Class == "":
		what, why = "the class path", "other versions of its classes"
	case IsJDKClass(m.Class) && cause == "":
		what, why, advice = "class "+m.Class+" of the JDK", "that of another JDK", "pass the JDK of the "+m.Writer.String()+": --jdk HOME"
	}
	if cause != "" {
		why += " (" + cause + ")"
	}
	if m.Listed {
		why += ", other registered classes than listed"
		advice += ", or its list: --register FILE, --optimizer CLASS"
	}
	return what + ": " + why + ", or something that this program cannot read; " + advice
}

// schemaReason is Reason for a message of protocol buffers.
func (m *Misfit) schemaReason() string {
	advice := "; pass the schema of the " + m.Writer.String() + ": --proto PATH"
	if m.NotDeclared {
		return "message " + m.Class + " of the schema, which has no field " + m.Field + ": a later version of it" + advice
	}
	return "message " + m.Class + " of the schema: another version of it" + advice
}

// IsJDKClass reports whether the name of a class is that of one of the JDK.
func IsJDKClass(name string) bool {
	return strings.HasPrefix(name, "java.") || strings.HasPrefix(name, "javax.") || strings.HasPrefix(name, "sun.") || strings.HasPrefix(name, "jdk.")
}

// expected names what was read when reading stopped.
func (m *Misfit) expected() string {
	switch {
	case m.Schema && (m.NotDeclared || m.Field == ""):
		return "fields of message " + m.Class + " as in the schema"
	case m.Schema:
		return "field " + m.Field + " of message " + m.Class + " as in the schema"
	case m.Class == "":
		return "objects of classes as in the class path"
	case m.Field == "":
		return "class " + m.Class + " as in the class path"
	}
	return "field " + m.Field + " of class " + m.Class + " as in the class path"
}

// Error returns the error of a body whose objects are not read because of m. The bytes may be right, so it is not the peer's.
func (m *Misfit) Error() *Error {
	found := "at body offset " + strconv.Itoa(m.At) + ": " // what the bytes were taken for may be a value
	if m.Found != "" {
		found += m.Found + " instead of " + m.Expected
	} else {
		found += "not " + m.Expected
	}
	return &Error{Cause: Unsupported, At: m.At, Expected: m.expected(), Found: found, Misfit: m}
}

// NewMisfit describes a body of a peer that did not fit its classes; err is what [ClassReader.Misfits] was asked about.
func NewMisfit(r ClassReader, writer Side, err *Error) *Misfit {
	m := &Misfit{Writer: writer, At: err.Offset(), Expected: err.Expected, Found: err.Found}
	if err.Class != "" {
		m.Expected, m.Found = "one of the class path", "class "+err.Class
		if !CanBeName(err.Class) {
			m.Found = "class " + strconv.Quote(err.Class)
		}
	}
	if m.Expected == "" {
		m.Expected = "other bytes"
	}
	if l, ok := r.(ListReader); ok {
		m.Listed = l.Listed()
	}
	v, ok := r.(VaryingReader)
	if !ok {
		return m
	}
	if m.Class, m.Field = v.Stopped(); m.Class == "" {
		if used := v.Used(); len(used) == 1 {
			m.Class = JavaName(used[0].Name)
		}
	}
	return m
}

// Variation is a way in which the writer's class may differ from that of the class path. Fields are numbered in the order in which the
// format writes them, so that hidden fields are told apart.
type Variation struct {
	// Class is the name of the class as Class.getName returns it.
	Class string
	// Index is the number of the field that the writer does not have. If Type is set, the writer has another field, of that type, before
	// the one with this number, or the field with this number has that type if Replaces.
	Index    int
	Replaces bool
	// Type is a descriptor: of a primitive type, its box or of java.lang.String; that of java.lang.Object stands for any class that is
	// not final.
	Type string
}

// UsedClass is a class of the application of which a body has objects.
type UsedClass struct {
	// Name is what Class.getName returns.
	Name string
	// Fields are the names of the fields that are written, in that order.
	Fields []string
}

// VaryingReader is a ClassReader that can read a body as if a class was another one.
type VaryingReader interface {
	ClassReader
	// Used returns the classes whose fields were read since the last Reset, in the order in which they were first met. The result
	// is valid until the next call of any method.
	Used() []UsedClass
	// Stopped returns the class and the field in which the first error occurred, in source form; both may be "".
	Stopped() (class, field string)
	// Vary makes the reader read bodies as if a class was another one, until it is called with nil. It returns false if the format
	// would not write such a field there.
	Vary(v *Variation) bool
}

// Bounds of the search for causes.
const (
	maxVariations   = 4096
	maxVariedBytes  = 1 << 20 // that are read for that
	maxVariedFields = 256     // of a class
)

// addedTypes are the types of fields that may have been added, with their names.
var addedTypes = [...]struct{ descriptor, name string }{
	{"Ljava/lang/String;", "a String"},
	{"Ljava/lang/Object;", "an object or null"},
	{"I", "an int"},
	{"J", "a long"},
	{"Ljava/lang/Integer;", "an Integer"},
	{"Ljava/lang/Long;", "a Long"},
	{"Z", "a boolean"},
	{"Ljava/lang/Boolean;", "a Boolean"},
	{"D", "a double"},
	{"Ljava/lang/Double;", "a Double"},
	{"F", "a float"},
	{"S", "a short"},
	{"B", "a byte"},
}

// In returns the first error of a body that was read again without classes because of m: err, which then has m.
func (m *Misfit) In(err *Error) *Error {
	if err == nil || err.Cause != Unsupported {
		return err
	}
	own := *err
	own.Misfit = m
	return &own
}

// Search looks for causes. whole reads the body again with r into t, which may be nil. It reports whether that was
// possible to the end of the body, and how many bytes it read.
func (m *Misfit) Search(r VaryingReader, whole func(t *Tree) (ok bool, read int)) {
	t := Tree{WithValues: true} // some errors appear only when values are read
	variations, bytes := 0, 0
	fits := func() bool {
		variations++
		ok, read := whole(nil)
		bytes += read
		if !ok {
			return false
		}
		t.Reset()
		ok, read = whole(&t)
		bytes += read
		t.CloseTo(0)
		return ok && t.isPlausible()
	}
	var classes []UsedClass
	for _, c := range r.Used() {
		classes = append(classes, UsedClass{c.Name, append([]string(nil), c.Fields...)})
	}
	r.WrittenBy(1 - m.Writer)
	m.OtherSide = fits()
	r.WrittenBy(m.Writer)
	if m.OtherSide {
		return
	}
	defer func() {
		if m.Class == "" && len(m.Causes) > 0 {
			m.Class = m.Causes[0].Class
		}
	}()
	defer r.Vary(nil)
	try := func(v Variation, c ClassChange) (more bool) {
		if variations == maxVariations || bytes > maxVariedBytes {
			return false
		}
		if !r.Vary(&v) {
			return true
		}
		switch {
		case !fits():
		case len(m.Causes) < MaxCauses:
			m.Causes = append(m.Causes, c)
		default:
			m.Others++
		}
		return true
	}
	for _, c := range classes {
		for i, name := range c.Fields {
			if !try(Variation{Class: c.Name, Index: i}, ClassChange{Class: JavaName(c.Name), Field: name}) {
				return
			}
		}
	}
	for _, c := range classes {
		for i, name := range c.Fields[:min(len(c.Fields), maxVariedFields)] {
			for _, t := range addedTypes {
				if !try(Variation{Class: c.Name, Index: i, Replaces: true, Type: t.descriptor}, ClassChange{Class: JavaName(c.Name), Retyped: true, Field: name, Type: t.name}) {
					return
				}
			}
		}
	}
	for _, c := range classes {
		if len(c.Fields) > maxVariedFields {
			continue
		}
		// From behind: of neighbours that cannot be told apart, the last place is where a class that grows gets its next field.
		for i := len(c.Fields); i >= 0; i-- {
			change := ClassChange{Class: JavaName(c.Name), Added: true}
			switch {
			case i > 0:
				change.Field = c.Fields[i-1]
			case len(c.Fields) > 0:
				change.Field, change.Before = c.Fields[0], true
			}
			for _, t := range addedTypes {
				change.Type = t.name
				if !try(Variation{Class: c.Name, Index: i, Type: t.descriptor}, change) {
					return
				}
			}
		}
	}
}

// isPlausible reports whether all values of a body were read, and none is one that hardly any application writes: control characters in
// a text, fractions that are all but zero.
func (t *Tree) isPlausible() bool {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.IsUnread() {
			return false
		}
		switch n.Kind {
		case Float32, Float64:
			most := 1e60
			if n.Kind == Float32 {
				most = 1e20
			}
			if v := math.Abs(n.Float); v != 0 && !(v < most && v > 1/most) {
				return false
			}
		case String:
			if strings.IndexFunc(n.Text, func(r rune) bool { return r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' }) >= 0 {
				return false
			}
		}
	}
	return true
}
