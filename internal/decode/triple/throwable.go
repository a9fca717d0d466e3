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
		if n := &t.Nodes[i]; n.Parent < 0 && n.Class != "" {
			// Of a long object only the start is there, which may not have all of a field.
			named := strings.HasSuffix(n.Class, "Exception") || strings.HasSuffix(n.Class, "Error")
			return named && slices.ContainsFunc(throwableFields, func(name string) bool { return bytes.Contains(b.b[f.from:to], []byte(name)) }) ||
				hasFieldsOfThrowable(&t, i)
		}
	}
	return false
}

// throwableFields are the fields of java.lang.Throwable.
var throwableFields = []string{"detailMessage", "cause", "stackTrace", "suppressedExceptions"}

// hasFieldsOfThrowable reports whether the object at node i has two fields of a throwable, or the list of its stack.
func hasFieldsOfThrowable(t *decode.Tree, i int) bool {
	found := 0
	for c := i + 1; c < len(t.Nodes); c++ {
		if n := &t.Nodes[c]; int(n.Parent) == i && n.Label == decode.ByField && slices.Contains(throwableFields, n.Name) {
			found++
			if n.Name == "stackTrace" && n.Kind == decode.List {
				found++
			}
		}
	}
	return found >= 2
}
