package explain

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// row is one line of the tree: a part with bytes of its own, or a container whose parts follow.
type row struct {
	depth int
	// name is the name within the parent, path the whole path.
	name, path string
	class      string // of its own bytes
	kind       string
	javaClass  string
	// off and len are its own bytes, from the frame's first byte; total includes the bytes of its subtree.
	off, len, total int
	// value is the text of its value.
	value string
	// secret says that the bytes are those of a value or tell one.
	secret    bool
	container bool
	node      int // in the tree; -1 in the header
	children  int // rows below it that are one deeper
	end       int // the first row after its subtree
}

// maxText bounds the text of a value, in bytes; JSON has all of it.
const maxText = 4 << 10

// headerRows returns the fields of the protocol's header. Texts of header fields are not shown if they are secret.
func headerRows(m *rpc.Message, secret Secret) []row {
	secrets := make(map[int]*rpc.Header)
	for i := range m.Headers {
		if h := &m.Headers[i]; secret != Open && h.IsSecret() {
			secrets[int(h.Off)] = h
		}
	}
	fields := m.Protocol.Header(nil, m, true)
	rows := []row{{
		name: "header", path: "header", class: "header", kind: "header", total: int(m.HeaderLen), container: true, node: -1,
		children: len(fields), value: m.Kind.String(),
	}}
	for _, f := range fields {
		r := row{
			depth: 1, name: f.Name, path: "header." + f.Name, class: "header", kind: "header", off: f.Off, len: f.Len, total: f.Len,
			value: f.Value, node: -1,
		}
		if f.Class != "" {
			r.class = f.Class
		}
		if h := secrets[f.Off]; h != nil && f.Len > 0 {
			r.secret, r.value = true, ""
			if secret == Redacted {
				r.value = fmt.Sprintf("string of %d", decode.TextLength(h.Text()))
			}
		} else if secret != Open && f.Secret {
			r.secret, r.value = true, ""
		}
		rows = append(rows, r)
	}
	return rows
}

// isNumbered reports whether a node is a field of which only the number is known.
func isNumbered(n *decode.Node) bool {
	return n.Label == decode.ByField && len(n.Name) > 1 && n.Name[0] == '#' && n.Name[1] >= '0' && n.Name[1] <= '9'
}

// compressedRow returns the row of a compressed body. The rows of the body without compression follow.
func compressedRow(m *rpc.Message) row {
	return row{
		name: decode.CompressedPath, path: decode.CompressedPath, class: decode.ClassCompressed.String(), kind: decode.Opaque.String(),
		off: int(m.HeaderLen), len: m.BodyLen, total: m.BodyLen, node: -1, secret: true,
		value: fmt.Sprintf("%s; its %s without compression follow", m.Encoding, term.Counted(int64(len(m.Plain)), "byte")),
	}
}

// bodyRows returns the parts of the body in the order of its tree.
func bodyRows(t *decode.Tree, s *Subject) []row {
	total := make([]int, len(t.Nodes)+1) // before node i
	for i := range t.Nodes {
		total[i+1] = total[i] + int(t.Nodes[i].Len)
	}
	rows := make([]row, 0, len(t.Nodes))
	type open struct{ end, depth, row int }
	var up []open
	paths, classes := t.Paths(), t.Classes()
	start := int(s.Row.Msg.HeaderLen)
	if s.Row.Msg.Plain != nil {
		start += s.Row.Msg.BodyLen
	}
	misread := t.Redact && t.Misread(s.Row.Msg.Content(), s.Row.Msg.Err)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		for len(up) > 0 && up[len(up)-1].end <= i {
			up = up[:len(up)-1]
		}
		path, class := paths(i), classes(i)
		if n.Parent < 0 && n.Kind == decode.List && n.Name == "args" && n.Len == 0 {
			continue // its elements have its name
		}
		depth, parent := 0, -1
		if len(up) > 0 {
			depth, parent = up[len(up)-1].depth+1, up[len(up)-1].row
		}
		r := row{
			depth: depth, name: name(t, i), path: path, class: class.String(), kind: n.Kind.String(), javaClass: n.Class,
			off: start + int(n.Off), len: int(n.Len), total: total[n.End] - total[i], node: i,
			container: int(n.End) > i+1, secret: secret(t, i, class),
		}
		r.value = s.value(t, i)
		if doubt := s.Row.Msg.Err; doubt != nil && doubt.Misfit != nil && doubt.Misfit.Schema && r.value != "" && isNumbered(n) {
			r.value += map[bool]string{true: "  (not in the schema)", false: "  (a guess)"}[doubt.Misfit.NotDeclared]
		}
		if misread && (n.HoldsNames() || n.Label == decode.ByMember) {
			r.secret, r.value = true, "?"
		}
		if misread && !decode.CanBeName(n.Class) {
			r.javaClass, r.value = "", "?"
		}
		if parent >= 0 {
			rows[parent].children++
		}
		rows = append(rows, r)
		if r.container {
			up = append(up, open{int(n.End), depth, len(rows) - 1})
		}
	}
	for i := range rows[:max(len(rows)-1, 0)] {
		// The name of the part that follows: without the other bytes of its row.
		if r, next := &rows[i], &rows[i+1]; r.name == "#field" && next.depth == r.depth && strings.HasSuffix(r.value, next.name) {
			r.value = next.name
		}
	}
	return rows
}

// name returns the name of a node within its parent.
func name(t *decode.Tree, i int) string {
	n := &t.Nodes[i]
	switch n.Label {
	case decode.ByIndex:
		index := "[" + strconv.Itoa(int(n.Index)) + "]"
		if n.Parent >= 0 && t.Nodes[n.Parent].Parent < 0 && t.Nodes[n.Parent].Name == "args" {
			return "args" + index
		}
		return index
	case decode.ByRole:
		return "#" + n.Name
	case decode.ByMember:
		return "#field"
	case decode.ByKey, decode.ByEntry:
		if n.Name == "" || t.Redact && !t.IsNamed(i) {
			return "[" + strconv.Itoa(int(n.Index)) + "]"
		}
	}
	return t.FieldName(i)
}

// secret reports whether the bytes of node i must not be shown where values are redacted. Bytes that were not decoded, and
// overhead that may contain bytes of values, are not shown either.
func secret(t *decode.Tree, i int, class decode.Class) bool {
	n := &t.Nodes[i]
	switch {
	case class == decode.ClassMissing:
		return false
	case class == decode.ClassEnvelope:
		return n.Name == "errorMessage" || n.Name == "event"
	case n.Label == decode.ByMember, class == decode.ClassAttachments && n.Kind != decode.Overhead:
		return !t.IsName(i)
	case n.Kind == decode.Overhead:
		return !structural[n.Name]
	}
	// The bytes of a reference may be a path with the keys of maps, as in JSON.
	return n.Kind != decode.Null && n.Kind != decode.Enum
}

// structural are the roles of overhead that never contains bytes of values.
var structural = map[string]bool{
	"type": true, "length": true, "class": true, "field": true, "end": true, "ref": true, "punct": true, "line": true,
	"block": true, "packet": true, "stream": true, "reset": true, "boundary": true, "header": true,
}

// value returns the text of the value of a node.
func (s *Subject) value(t *decode.Tree, i int) string {
	n := &t.Nodes[i]
	m := s.Row.Msg
	switch n.Kind {
	case decode.Overhead:
		return s.overhead(t, i)
	case decode.Opaque:
		if n.Num == 1 {
			return "takes no bytes"
		}
		return "not decoded"
	case decode.Missing:
		return "not in the capture"
	case decode.List:
		return plural(t.Elements(i), "element")
	case decode.Map:
		return plural((t.Elements(i)+1)/2, "entry")
	case decode.Object:
		if n.Class != "" {
			return n.Class
		}
		return plural(t.Elements(i), "field")
	case decode.Ref:
		return "the same as " + t.Path(int(n.Num))
	case decode.Alias:
		return "what follows as " + t.Path(int(n.Num))
	case decode.Null:
		return "null"
	case decode.Enum:
		if n.Text != "" {
			return n.Text + " (" + n.Class + ")"
		}
		return fmt.Sprintf("constant %d (%s)", n.Num, n.Class)
	}
	if s.Secret != Open && !t.IsName(i) && !n.NamesCall() {
		switch {
		case s.Secret == Hidden:
			return ""
		case n.Kind == decode.String:
			return fmt.Sprintf("string of %d", decode.TextLength(n.Text))
		}
		return n.Kind.String()
	}
	switch {
	case n.Parent < 0 && n.Name == "flag":
		return flagText(n.Num)
	case n.Parent < 0 && n.Name == "event":
		return eventText(m, n)
	case n.Parent < 0 && n.Name == "parameterTypes" && m.Operation != nil:
		return "(" + strings.Join(m.Operation.Types, ", ") + ")"
	case n.Label == decode.ByKey:
		return leafText(n) + "  (key)"
	}
	if n.Label == decode.ByIndex && n.Parent >= 0 && t.Nodes[n.Parent].Parent < 0 && m.Operation != nil && int(n.Index) < len(m.Operation.Types) {
		if typ := m.Operation.Types[n.Index]; n.Kind != decode.String || typ != "java.lang.String" {
			return leafText(n) + " (" + typ + ")"
		}
	}
	return leafText(n)
}

// overhead returns the readable text in the bytes of a name or type.
func (s *Subject) overhead(t *decode.Tree, i int) string {
	n := &t.Nodes[i]
	switch n.Name {
	case "class", "field", "type":
	default:
		return ""
	}
	body := s.Row.Msg.Content()
	if int(n.Off+n.Len) > len(body) {
		return ""
	}
	raw := withoutEndMark(body[n.Off : n.Off+n.Len])
	if up := int(n.Parent); n.Name == "class" && up >= 0 && t.Nodes[up].Class != "" && bytes.Contains(raw, []byte(t.Nodes[up].Class)) {
		return t.Nodes[up].Class
	}
	return printable(raw)
}

// withoutEndMark returns raw with a readable last character if bit 7 of its last byte marks the end of an ASCII text, as it
// does in kryo. A text in UTF-8 stays.
func withoutEndMark(raw []byte) []byte {
	last := len(raw) - 1
	if r, size := utf8.DecodeLastRune(raw); r != utf8.RuneError || size != 1 || last < 1 || raw[last-1] >= utf8.RuneSelf {
		return raw
	}
	raw = bytes.Clone(raw)
	raw[last] &= 0x7f
	return raw
}

// printable returns the runs of three and more printable characters in b, or all of b after its first byte.
func printable(b []byte) string {
	var words []string
	whole := len(b) > 1
	for at := 0; at < len(b); {
		k, letters := at, 0
		for k < len(b) {
			r, size := utf8.DecodeRune(b[k:])
			if r < 0x20 || r == 0x7f || r == utf8.RuneError {
				break
			}
			k += size
			letters++
		}
		if letters >= 3 || whole && at == 1 && k == len(b) {
			words = append(words, string(b[at:k]))
		}
		at = k + 1
	}
	text := strings.Join(words, " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

func leafText(n *decode.Node) string {
	switch n.Kind {
	case decode.Bool:
		return strconv.FormatBool(n.Num != 0)
	case decode.Int:
		if n.Text != "" {
			return n.Text
		}
		return strconv.FormatInt(n.Num, 10)
	case decode.Float32:
		return strconv.FormatFloat(n.Float, 'g', -1, 32)
	case decode.Float64:
		return strconv.FormatFloat(n.Float, 'g', -1, 64)
	case decode.Bytes:
		return plural(len(n.Raw), "byte")
	case decode.Custom:
		return plural(len(n.Raw), "byte") + " that the application wrote"
	case decode.Date, decode.Decimal:
		return n.Text
	case decode.String, decode.Char:
		text := n.Text
		if len(text) > maxText {
			return string(decode.AppendString(nil, strings.ToValidUTF8(text[:maxText], ""))) + "…"
		}
		return string(decode.AppendString(nil, text))
	}
	return n.Kind.String()
}

func flagText(k int64) string {
	text := [...]string{
		"an exception", "a value", "null", "an exception, with attachments", "a value, with attachments", "null, with attachments",
	}
	if k < 0 || int(k) >= len(text) {
		return strconv.FormatInt(k, 10)
	}
	return strconv.FormatInt(k, 10) + ": " + text[k]
}

func eventText(m *rpc.Message, n *decode.Node) string {
	if m.Kind == rpc.Heartbeat {
		return "heartbeat"
	}
	return printable(n.Raw)
}

func plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "y"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return report.Count(int64(n)) + " " + noun + "s"
}
