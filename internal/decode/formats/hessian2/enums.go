package hessian2

import (
	"slices"
	"strings"
	"unicode"

	"dubbo-wire/internal/decode"
)

// An enum constant is written as an object of its enum class with the one field name, a string. So is a bean that has
// no other field than a String called name; the wire does not tell them apart. What decides, the surest first:
//
//   - The keys of an EnumMap and the elements of an EnumSet are constants, and so are objects of a class called …Enum.
//   - A constant's name is an identifier of Java: no blank in it, and never null.
//   - Keys of other maps and elements of sorted sets are constants, if their names are identifiers: a bean there would need
//     to compare itself with others. So are objects of classes that are called as enums are (typicalNames).
//   - A constant is one object, so a Java writer writes its second use as a reference. Two objects of one class with
//     the same name are beans.
//   - Java's naming convention writes constants in capitals: RED, NOT_FOUND, V2. Any other name is taken for a bean's.
//
// The evidence of one object of a class holds for all objects of the class in the body, also for those before it.
//
// Remaining errors: a bean whose names are all in capitals and all different is printed as an enum constant; an enum
// whose constants break the convention, or that a Go peer writes twice without a reference, is printed as an object.
// Both ways class and name are printed.

// mayBeEnum reports whether a class can be an enum's.
func mayBeEnum(class string, fields []string) bool {
	return len(fields) == 1 && fields[0] == "name" && class != "java.lang.Class" &&
		!strings.HasSuffix(class, "Exception") && !strings.HasSuffix(class, "Error")
}

// isConstant reports whether s is named as Java's conventions name constants.
func isConstant(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
		case i > 0 && (c == '_' || c >= '0' && c <= '9'):
		default:
			return false
		}
	}
	return s != ""
}

// typicalNames are how the names of enum classes end.
var typicalNames = []string{
	"Status", "State", "Type", "Kind", "Mode", "Level", "Gender", "Sex", "Color", "Colour", "Priority", "Severity", "Direction",
	"Phase", "Stage", "Channel", "Reason", "Action", "Operation", "Operator", "Strategy", "Scope", "Mood", "Season", "Weekday",
}

// calledEnum returns the evidence of the name of a class.
func calledEnum(class string) kindOfClass {
	switch {
	case strings.HasSuffix(class, "Enum"):
		return surelyEnum
	case slices.ContainsFunc(typicalNames, func(end string) bool { return strings.HasSuffix(class, end) }):
		return keyedEnum
	}
	return likelyEnum
}

// isIdentifier reports whether s can be the name of a constant.
func isIdentifier(s string) bool {
	for i, c := range s {
		if c != '_' && c != '$' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c)) {
			return false
		}
	}
	return s != ""
}

// evidence says how sure it is that an object is an enum constant, by its place.
type evidence uint8

const (
	noEvidence evidence = iota
	keyed               // an object here is a constant if its name can be one's
	certain             // it is one
)

// constant is one constant of one class.
type constant struct {
	class int
	name  string
}

// kindOfClass says whether the objects of a class are enum constants or beans. A larger value is more certain.
type kindOfClass uint8

const (
	likelyEnum kindOfClass = iota // nothing contradicts it
	likelyBean                    // a name is not in capitals
	keyedEnum                     // by the place of an object, or the name of the class
	surelyBean                    // a name is not an identifier, or two objects have the same name
	surelyEnum
)

func (k kindOfClass) isEnum() bool { return k == likelyEnum || k == keyedEnum || k == surelyEnum }

// enumUse is an object of a class that may be an enum's, or a reference to one; previous is the one of the same class
// before it, an index of Reader.enums counted from 1.
type enumUse struct{ node, previous int }

// noteEnum remembers a node, in case the kind of its class changes.
func (r *Reader) noteEnum(node, class int) {
	c := &r.classes[class]
	r.enums = append(r.enums, enumUse{node, c.lastEnum})
	c.lastEnum = len(r.enums)
}

// interpretEnum takes a finished object of a class that may be an enum's; e is the evidence of its place.
func (r *Reader) interpretEnum(node, class int, e evidence) {
	r.noteEnum(node, class)
	name, c := r.constantName(node), &r.classes[class]
	if !isIdentifier(name) {
		r.decideEnum(class, surelyBean)
	}
	r.decideBy(e, class)
	if c.kind == likelyEnum && !isConstant(name) {
		r.decideEnum(class, likelyBean)
	}
	if c.kind == likelyEnum || c.kind == keyedEnum {
		id := constant{class, name}
		if _, again := r.constants[id]; again {
			r.decideEnum(class, surelyBean)
		}
		r.constants[id] = struct{}{}
	}
	if c.kind.isEnum() {
		r.asConstant(node)
	}
}

// enumReference takes a reference to an object of a class that may be an enum's.
func (r *Reader) enumReference(node, class int, e evidence) {
	r.noteEnum(node, class)
	r.decideBy(e, class)
	if r.classes[class].kind.isEnum() {
		r.asConstant(node)
	}
}

// decideBy decides by the place of an object.
func (r *Reader) decideBy(e evidence, class int) {
	switch e {
	case certain:
		r.decideEnum(class, surelyEnum)
	case keyed:
		r.decideEnum(class, keyedEnum)
	}
}

// decideEnum sets the kind of a class and converts its objects and the references to them.
func (r *Reader) decideEnum(class int, kind kindOfClass) {
	c := &r.classes[class]
	if kind <= c.kind {
		return
	}
	was := c.kind.isEnum()
	c.kind = kind
	if kind.isEnum() == was {
		return
	}
	for i := c.lastEnum; i > 0; i = r.enums[i-1].previous {
		if node := r.enums[i-1].node; was {
			r.asBean(node)
		} else {
			r.asConstant(node)
		}
	}
}

// isObject reports whether a node is an object, not a reference to one.
func (r *Reader) isObject(node int) bool { return int(r.Tree.Node(node).End) > node+1 }

// constantName returns the name of the object that a node is or refers to, "" if there is no name.
func (r *Reader) constantName(node int) string {
	if !r.isObject(node) {
		node = int(r.Tree.Node(node).Num)
	}
	if name := (fieldsOf{r.Tree, node}).get("name", decode.String); name != nil {
		return name.String()
	}
	return ""
}

// asConstant turns a node into an enum constant. A reference keeps the number of its object.
func (r *Reader) asConstant(node int) {
	n, name := r.Tree.Node(node), r.constantName(node)
	if name == "" {
		return
	}
	if !r.isObject(node) {
		class := r.Tree.Node(int(n.Num)).Class
		if len(class)+len(name) > maxCopied {
			return
		}
		n.Class = class
	}
	n.Kind, n.Text = decode.Enum, name
}

// asBean turns a node into what it is on the wire again: an object or a reference.
func (r *Reader) asBean(node int) {
	n := r.Tree.Node(node)
	n.Text = ""
	if r.isObject(node) {
		n.Kind = decode.Object
	} else {
		n.Kind, n.Class = decode.Ref, ""
	}
}
