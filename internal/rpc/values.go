package rpc

import (
	"strconv"

	"dubbo-wire/internal/decode"
)

// Attachment returns the text of an attachment, where it was read and is a string.
func (m *Message) Attachment(key string) (string, bool) {
	i := m.find("attachments")
	if i < 0 {
		return "", false
	}
	t := m.Tree
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; n.Label == decode.ByEntry && n.Name == key {
			return n.Text, n.Kind == decode.String
		}
	}
	return "", false
}

// AttachmentTexts returns the attachments that are strings.
func (m *Message) AttachmentTexts() map[string]string {
	i := m.find("attachments")
	if i < 0 {
		return nil
	}
	texts := make(map[string]string)
	t := m.Tree
	for c := i + 1; c < int(t.Nodes[i].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; n.Label == decode.ByEntry && n.Kind == decode.String {
			texts[n.Name] = n.Text
		}
	}
	return texts
}

// Attachments calls f for each attachment in wire order: with the nodes of its value in Tree, from the first one to before
// end, and the bytes of the body that key and value have, their own and those of what lies in them: the parts with its path.
func (m *Message) Attachments(f func(key string, value, end, bytes int)) {
	i := m.find("attachments")
	if i < 0 {
		return
	}
	key, t := 0, m.Tree
	for c, end := i+1, int(t.Nodes[i].End); c < end; {
		next, bytes := int(t.Nodes[c].End), 0
		for k := c; k < next; k++ {
			if n := &t.Nodes[k]; n.Kind != decode.Opaque && n.Kind != decode.Missing {
				bytes += int(n.Len)
			}
		}
		switch n := &t.Nodes[c]; n.Label {
		case decode.ByEntry:
			f(n.Name, c, next, key+bytes)
			key = 0
		case decode.ByKey, decode.ByMember: // of the entry that follows; there may be a colon between them
			key += bytes
		}
		c = next
	}
}

// find returns the index of the top-level node with that name, -1 if there is none.
func (m *Message) find(name string) int {
	if m.Tree == nil {
		return -1
	}
	for i := 0; i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
		if n := &m.Tree.Nodes[i]; n.Label == decode.ByField && n.Name == name {
			return i
		}
	}
	return -1
}

// AppendArguments appends the arguments as a JSON list. Where nothing is left of them they are one opaque value.
func (m *Message) AppendArguments(dst []byte) []byte {
	if m.find("args") < 0 && m.Err != nil && m.Operation != nil && len(m.Operation.Types) > 0 {
		dst = append(dst, `[{"@opaque":`...)
		return append(strconv.AppendInt(dst, m.opaqueBytes(), 10), "}]"...)
	}
	dst = m.appendField(dst, "args", "[]")
	// Arguments behind one whose end cannot be seen lie in its opaque bytes: none is left out.
	for n := m.argumentsRead(); m.Err != nil && m.Operation != nil && n < len(m.Operation.Types); n++ {
		dst = dst[:len(dst)-1]
		if n > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"@opaque":0}]`...)
	}
	return dst
}

// argumentsRead is the number of arguments of which something was read.
func (m *Message) argumentsRead() (n int) {
	args := m.find("args")
	if args < 0 {
		return 0
	}
	for c := args + 1; c < int(m.Tree.Nodes[args].End); c = int(m.Tree.Nodes[c].End) {
		if m.Tree.Nodes[c].Kind != decode.Overhead {
			n++
		}
	}
	return n
}

// opaqueBytes is the sum of the bytes that were not decoded.
func (m *Message) opaqueBytes() (n int64) {
	for i := range m.Tree.Nodes {
		if m.Tree.Nodes[i].Kind == decode.Opaque {
			n += int64(m.Tree.Nodes[i].Len)
		}
	}
	return n
}

// AppendGenericArguments appends the arguments of the method that a generic call invokes: the elements of the third
// argument of $invoke.
func (m *Message) AppendGenericArguments(dst []byte) []byte {
	args := m.find("args")
	if args < 0 {
		return append(dst, "[]"...)
	}
	t := m.Tree
	for c := args + 1; c < int(t.Nodes[args].End); c = int(t.Nodes[c].End) {
		if n := &t.Nodes[c]; n.Label == decode.ByIndex && n.Index == 2 {
			switch n.Kind {
			case decode.List:
				return t.AppendJSON(dst, c)
			case decode.Null:
				return append(dst, "[]"...)
			}
			dst = append(dst, '[')
			return append(t.AppendJSON(dst, c), ']')
		}
	}
	return t.AppendJSON(dst, args)
}

// AppendAttachments appends the attachments as a JSON object. Where they could not be told from the values before them
// they are {"@opaque": n}, n being the bytes they lie in.
func (m *Message) AppendAttachments(dst []byte) []byte {
	if m.Err == nil || m.find("attachments") >= 0 || m.Format != nil && m.Format.NoAttachments || m.ResultKind >= 0 && m.ResultKind < 3 {
		return m.appendField(dst, "attachments", "{}")
	}
	dst = append(dst, `{"@opaque":`...)
	return append(strconv.AppendInt(dst, m.opaqueBytes(), 10), '}')
}

// AppendResult appends the value of a response as JSON: null where the result kind says so, opaque where the capture
// or the decoder has nothing of it.
func (m *Message) AppendResult(dst []byte) []byte {
	if m.ResultKind == 2 || m.ResultKind == 5 {
		return append(dst, "null"...)
	}
	return m.appendField(dst, "result", `{"@opaque":0}`)
}

func (m *Message) appendField(dst []byte, name, absent string) []byte {
	if i := m.find(name); i >= 0 {
		return m.Tree.AppendJSON(dst, i)
	}
	return append(dst, absent...)
}
