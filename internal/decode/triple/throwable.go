package triple

import (
	"bytes"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
)

// isThrowable reports whether the result is a throwable where the headers that would tell an exception are not known: they are lost, or
// refer to entries of HPACK's table that are. Then it is taken for an exception. Few methods return a throwable as a value.
func (b *body) isThrowable() bool {
	w := b.wrapper
	if w == nil || len(w.data) != 1 || len(b.formats) == 0 || b.m.Ordinal > 0 || !b.heads.unsure() {
		return false
	}
	f := w.data[0]
	to := min(f.to, enough) // the same bytes, whether more of the body was kept or not
	if to <= f.from {
		return false
	}
	var t decode.Tree
	r := b.formats[0].reader()
	r.Reset(b.b[f.from:to], decode.Cut, &t)
	r.Value(decode.ByField, "", 0, "")
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.Parent >= 0 || n.Kind == decode.Overhead {
			continue
		}
		if n.Class == "" {
			return hasKeysOfThrowable(&t, i)
		}
		// Of a long object only the start is there, which may not have all of a field.
		return namedThrowable(n.Class) && slices.ContainsFunc(throwableMarks, func(name string) bool { return bytes.Contains(b.b[f.from:to], []byte(name)) }) ||
			hasFieldsOfThrowable(&t, i, to < f.to) || extendsThrowable(&t, i, b.b[f.from:to])
	}
	return false
}

// namedThrowable reports whether the name of a class ends as those of throwables do.
func namedThrowable(class string) bool {
	return strings.HasSuffix(class, "Exception") || strings.HasSuffix(class, "Error")
}

// throwableFields are the fields of java.lang.Throwable.
var throwableFields = []string{"detailMessage", "cause", "stackTrace", "suppressedExceptions"}

// throwableMarks are names that the start of an exception has: of fields, or of classes if the serialization writes no names of fields.
var throwableMarks = slices.Concat(throwableClasses, throwableFields, []string{"java.lang.StackTraceElement"})

// throwableClasses are classes of which each throwable but an error of the JVM extends one.
var throwableClasses = []string{"java.lang.Throwable", "java.lang.Exception", "java.lang.RuntimeException"}

// extendsThrowable reports whether the class of the object at node i is written with its superclasses, and a throwable.
func extendsThrowable(t *decode.Tree, i int, b []byte) bool {
	for c := i + 1; c < len(t.Nodes); c++ {
		n := &t.Nodes[c]
		if int(n.Parent) == i && n.Kind == decode.Overhead && n.Name == "class" &&
			slices.ContainsFunc(throwableClasses, func(name string) bool { return bytes.Contains(b[n.Off:n.Off+n.Len], []byte(name)) }) {
			return true
		}
	}
	return false
}

// hasKeysOfThrowable reports whether the object at node i, whose serialization writes no classes, has a list of objects as its stack, and
// another field of a throwable.
func hasKeysOfThrowable(t *decode.Tree, i int) bool {
	stack, other := false, false
	for c := i + 1; c < len(t.Nodes); c++ {
		n := &t.Nodes[c]
		switch {
		case int(n.Parent) != i:
		case n.Name == "stackTrace" && n.Kind == decode.List:
			for e := c + 1; e < len(t.Nodes) && t.Nodes[e].Parent >= int32(c); e++ {
				stack = stack || int(t.Nodes[e].Parent) == c && (t.Nodes[e].Kind == decode.Map || t.Nodes[e].Kind == decode.Object)
			}
		case n.Kind == decode.Overhead, n.Name == "stackTrace":
		case slices.Contains(throwableFields, n.Name), n.Name == "suppressed", n.Name == "localizedMessage":
			other = true
		}
	}
	return stack && other
}

// hasFieldsOfThrowable reports whether the object at node i has two fields of a throwable, or the list of its stack, or, if only its start is
// there, a cause that is a throwable: fields may be in the order of their names, so that the cause may be all of the start.
func hasFieldsOfThrowable(t *decode.Tree, i int, started bool) bool {
	found := 0
	for c := i + 1; c < len(t.Nodes); c++ {
		if n := &t.Nodes[c]; int(n.Parent) == i && n.Label == decode.ByField && slices.Contains(throwableFields, n.Name) {
			found++
			if n.Name == "stackTrace" && n.Kind == decode.List ||
				started && n.Name == "cause" && n.Kind == decode.Object && (namedThrowable(n.Class) || hasFieldsOfThrowable(t, c, started)) {
				found++
			}
		}
	}
	return found >= 2
}
