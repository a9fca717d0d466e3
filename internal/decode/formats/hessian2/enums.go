package hessian2

import (
	"strings"

	"dubbo-wire/internal/decode"
)

// An enum constant is written as an object of its enum class with the one field name, a string. So is a bean that has
// no other field than a String called name; the wire does not tell them apart. What decides, the surest first:
//
//   - The keys of an EnumMap and the elements of an EnumSet are constants. So is what their class has elsewhere.
//   - A constant's name is never null, and it is an identifier. A class called …Enum has constants.
//   - A constant is one object, so a Java writer writes its second use as a reference. Two objects of one class with
//     the same name are beans.
//   - Java's naming convention writes constants in capitals: RED, NOT_FOUND, V2. Any other name is taken for a bean's.
//   - What one object of a class shows holds for all objects of the class in the body, those before it too.
//
// What remains wrong: a bean whose names are all in capitals and all different is printed as an enum constant; an enum
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

// calledEnum reports whether a class says by its name that it is an enum's.
func calledEnum(class string) bool { return strings.HasSuffix(class, "Enum") }

// constant is one constant of one class.
type constant struct {
	class int
	name  string
}

// kindOfClass is what is known of a class whose objects may be enum constants.
type kindOfClass uint8

const (
	likelyEnum kindOfClass = iota // nothing speaks against it
	bean
	surelyEnum
)

// enumUse is an object of a class that may be an enum's, or a reference to one; previous is the one of the same class
// before it, an index of Reader.enums counted from 1.
type enumUse struct{ node, previous int }

// noteEnum remembers a node for what will be known of its class.
func (r *Reader) noteEnum(node, class int) {
	c := &r.classes[class]
	r.enums = append(r.enums, enumUse{node, c.lastEnum})
	c.lastEnum = len(r.enums)
}

// interpretEnum takes a finished object of a class that may be an enum's for a constant, or all of them for beans.
func (r *Reader) interpretEnum(node, class int) {
	c := &r.classes[class]
	r.noteEnum(node, class)
	switch c.kind {
	case bean:
		return
	case surelyEnum:
		r.asConstant(node)
		return
	}
	name := r.constantName(node)
	if !isConstant(name) {
		r.decideEnum(class, bean)
		return
	}
	id := constant{class, name}
	if _, again := r.constants[id]; again {
		r.decideEnum(class, bean)
		return
	}
	r.constants[id] = struct{}{}
	r.asConstant(node)
}

// enumAgain takes a reference to an object of a class that may be an enum's.
func (r *Reader) enumAgain(node, class int) {
	r.noteEnum(node, class)
	if r.classes[class].kind != bean {
		r.asConstant(node)
	}
}

// decideEnum makes all objects of a class, and the references to them, what they now are known to be.
func (r *Reader) decideEnum(class int, kind kindOfClass) {
	c := &r.classes[class]
	if c.kind == kind || c.kind == surelyEnum {
		return
	}
	c.kind = kind
	for i := c.lastEnum; i > 0; i = r.enums[i-1].previous {
		if node := r.enums[i-1].node; kind == bean {
			r.asBean(node)
		} else {
			r.asConstant(node)
		}
	}
}

// isObject reports whether a node is an object, not a reference to one.
func (r *Reader) isObject(node int) bool { return int(r.t.Node(node).End) > node+1 }

// constantName returns the name of the object that a node is or refers to, "" if it has none.
func (r *Reader) constantName(node int) string {
	if !r.isObject(node) {
		node = int(r.t.Node(node).Num)
	}
	if name := (fieldsOf{r.t, node}).get("name", decode.String); name != nil {
		return name.Text
	}
	return ""
}

// asConstant makes a node an enum constant. A reference keeps the number of its object.
func (r *Reader) asConstant(node int) {
	n, name := r.t.Node(node), r.constantName(node)
	if name == "" {
		return
	}
	if !r.isObject(node) {
		class := r.t.Node(int(n.Num)).Class
		if len(class)+len(name) > maxCopied {
			return
		}
		n.Class = class
	}
	n.Kind, n.Text = decode.Enum, name
}

// asBean makes a node what it is on the wire again: an object or a reference.
func (r *Reader) asBean(node int) {
	n := r.t.Node(node)
	n.Text = ""
	if r.isObject(node) {
		n.Kind = decode.Object
	} else {
		n.Kind, n.Class = decode.Ref, ""
	}
}
