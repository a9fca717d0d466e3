package rpc

import "dubbo-wire/internal/decode"

// ReadException reads class and message of the throwable at node from or after it.
func (m *Message) ReadException(from int) {
	t := m.Tree
	for i := from; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		n := &t.Nodes[i]
		if n.Label != decode.ByField || n.Name != "exception" {
			continue
		}
		m.ExceptionClass = n.Class
		m.ExceptionMessage, m.HasErrorText = m.exceptionText(i, 0)
		return
	}
}

// ReadFault reads class and message of the fault at node i, a map: those of the throwable that is its member "detail", or else the text
// "exceptionTypeName" in its member "data", which is "" if there is none, and its member "message".
func (m *Message) ReadFault(i int) {
	t := m.Tree
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		n := &t.Nodes[c]
		switch {
		case n.Label != decode.ByEntry:
		case n.Name == "message" && n.Kind == decode.String && !m.HasErrorText:
			m.ExceptionMessage, m.HasErrorText = n.String(), true
		case n.Name == "detail" && n.Kind == decode.Object:
			m.ExceptionClass = n.Class
			m.ExceptionMessage, m.HasErrorText = m.exceptionText(c, 0)
			return
		case n.Name == "data":
			m.ExceptionClass = m.memberText(c, "exceptionTypeName")
		}
	}
}

// memberText returns the text of the member of that name of the value at node i, "" if there is none.
func (m *Message) memberText(i int, name string) string {
	t := m.Tree
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; (n.Label == decode.ByEntry || n.Label == decode.ByField) && n.Name == name && n.Kind == decode.String {
			return n.String()
		}
	}
	return ""
}

// exceptionText returns the message of the throwable at node i, as its getMessage does. Formats that write fields have
// detailMessage and, for a class with its own message, also message, which then counts. Formats that write the results of
// getters have message. Others name their field in [decode.Format.ThrowableMessage].
func (m *Message) exceptionText(i, depth int) (text string, ok bool) {
	t := m.Tree
	var own, detail, other string
	var hasOwn, hasDetail, detailed, hasOther bool
	named := m.Format.ThrowableMessage
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		f := &t.Nodes[c]
		if f.Label != decode.ByField && f.Label != decode.ByEntry || f.Name == "" {
			continue
		}
		is := f.Kind == decode.String
		switch f.Name {
		case "message":
			if is {
				own, hasOwn = f.String(), true
			}
		case "detailMessage":
			detailed = true
			if is {
				detail, hasDetail = f.String(), true
			}
		case named:
			switch {
			case hasOther:
			case is:
				other, hasOther = f.String(), true
			case depth == 0:
				other, hasOther = m.exceptionText(c, 1)
			}
		}
	}
	switch {
	case hasOwn:
		return own, true
	case hasDetail:
		return detail, true
	case !detailed && hasOther:
		return other, true
	}
	return "", false
}
