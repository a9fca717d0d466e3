package scrub

import (
	"regexp"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// markKept fills s.kept: which nodes of the tree stay unchanged.
func (s *Scrubber) markKept(m *rpc.Message) {
	nodes := m.Tree.Nodes
	s.kept = s.kept[:0]
	for range nodes {
		s.kept = append(s.kept, false)
	}
	generic := m.Operation != nil && m.Operation.Generic
	for top := 0; top < len(nodes); top = int(nodes[top].End) {
		root := &nodes[top]
		if root.Label != decode.ByField {
			continue
		}
		switch {
		case root.NamesCall():
			s.keepSubtree(nodes, top)
		case root.Name == "attachments":
			s.keepAttachments(nodes, top)
		case root.Name == "args" && generic:
			s.keepGenericCall(nodes, top)
		}
		for i := top; i < int(root.End); i++ {
			switch n := &nodes[i]; {
			case n.Label == decode.ByMember:
				s.kept[i] = n.Kind == decode.String && decode.IsMemberName(n.Text)
			case n.Kind == decode.Enum, n.Class == "java.lang.Class", root.Name == "exception" && n.Kind == decode.String && n.Text == m.ExceptionClass:
				s.keepNames(nodes, i)
			case n.Kind == decode.Map:
				s.keepMapClass(nodes, i)
			}
		}
	}
}

// keepSubtree keeps node i and all nodes in it, except bytes that were not decoded.
func (s *Scrubber) keepSubtree(nodes []decode.Node, i int) {
	for k := i; k < int(nodes[i].End); k++ {
		s.kept[k] = nodes[k].Kind != decode.Opaque && nodes[k].Kind != decode.Custom
	}
}

// keepNames keeps node i and all nodes in it, except texts that cannot be the name of a class or a constant.
func (s *Scrubber) keepNames(nodes []decode.Node, i int) {
	for k := i; k < int(nodes[i].End); k++ {
		if text := nodes[k].Text; text == "" || decode.IsClassName(text) {
			switch nodes[k].Kind {
			case decode.Opaque, decode.Custom, decode.Bytes:
			default:
				s.kept[k] = true
			}
		}
	}
}

// keepAttachments keeps the keys of the attachments at node i, and the values that say what is called.
func (s *Scrubber) keepAttachments(nodes []decode.Node, i int) {
	for c := i + 1; c < int(nodes[i].End); c = int(nodes[c].End) {
		switch n := &nodes[c]; n.Label {
		case decode.ByKey:
			s.keepSubtree(nodes, c)
		case decode.ByEntry:
			if n.Kind == decode.Null || n.Kind == decode.String && decode.NamesCallee(n.Name, n.Text) {
				s.keepSubtree(nodes, c)
			}
		}
	}
}

// keepGenericCall keeps what a generic call invokes: the method and its types, arguments 0 and 1, unless something else is in their
// places, as in a body that was misread.
func (s *Scrubber) keepGenericCall(nodes []decode.Node, i int) {
	for c := i + 1; c < int(nodes[i].End); c = int(nodes[c].End) {
		switch n := &nodes[c]; {
		case n.Label != decode.ByIndex:
		case n.Index == 0 && n.Kind == decode.String && decode.CanBeName(n.Text):
			s.keepSubtree(nodes, c)
		case n.Index == 1:
			s.keepNames(nodes, c)
		}
	}
}

// keepMapClass keeps the names in map i if it stands for an object, whose class its entry "class" names, as in generic calls.
func (s *Scrubber) keepMapClass(nodes []decode.Node, i int) {
	class := -1
	for c := i + 1; c < int(nodes[i].End); c = int(nodes[c].End) {
		if n := &nodes[c]; n.Label == decode.ByEntry && n.Name == "class" && n.Kind == decode.String && isClass(n.Text) {
			class = c
		}
	}
	if class < 0 {
		return
	}
	s.kept[class] = true
	for c := i + 1; c < int(nodes[i].End); c = int(nodes[c].End) {
		if n := &nodes[c]; n.Label == decode.ByKey && n.Kind == decode.String {
			s.kept[c] = true
		}
	}
}

var (
	javaClass  = regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+$`)
	upperStart = regexp.MustCompile(`(^|\.)[A-Z]`)
)

// isClass reports whether a text is the name of a Java class in a package: com.acme.Order, java.util.Map$Entry.
func isClass(text string) bool { return javaClass.MatchString(text) && upperStart.MatchString(text) }
