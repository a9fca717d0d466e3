package hessian2

import (
	"strings"

	"dubbo-wire/internal/decode"
)

// An enum constant is written as an object of its enum class with the one field name, a string. So is a bean that has
// no other field than a String called name; the wire does not tell them apart. What is known of Java's enums decides:
//
//   - A constant's name is never null. Java's naming convention writes it in capitals: RED, NOT_FOUND, V2. A name in
//     any other form is taken for a bean's.
//   - A constant is one object, so a Java writer writes its second use as a reference. Two objects of one class with
//     the same name are beans.
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

// constant is one constant of one class.
type constant struct {
	class int
	name  string
}

// enumUse is a node that was taken for an enum constant; previous is the one of the same class before it, an index of
// Reader.enums counted from 1.
type enumUse struct{ node, previous int }

// noteEnum remembers that a node was taken for a constant.
func (r *Reader) noteEnum(node, class int) {
	c := &r.classes[class]
	r.enums = append(r.enums, enumUse{node, c.lastEnum})
	c.lastEnum = len(r.enums)
}

// interpretEnum takes a finished object of a class that may be an enum's for a constant, or all of them for beans.
func (r *Reader) interpretEnum(node, class int) {
	if r.classes[class].notEnum {
		return
	}
	name := fieldsOf{r.t, node}.get("name", decode.String)
	if name == nil || !isConstant(name.Text) {
		r.disprove(class)
		return
	}
	id := constant{class, name.Text}
	if _, again := r.constants[id]; again {
		r.disprove(class)
		return
	}
	r.constants[id] = struct{}{}
	n := r.t.Node(node)
	n.Kind, n.Text = decode.Enum, name.Text
	r.noteEnum(node, class)
}

// disprove makes the constants of a class what they are on the wire again: objects and references.
func (r *Reader) disprove(class int) {
	c := &r.classes[class]
	c.notEnum = true
	for i := c.lastEnum; i > 0; i = r.enums[i-1].previous {
		n := r.t.Node(r.enums[i-1].node)
		n.Text = ""
		if int(n.End) > r.enums[i-1].node+1 {
			n.Kind = decode.Object
		} else {
			n.Kind, n.Class = decode.Ref, ""
		}
	}
	c.lastEnum = 0
}
