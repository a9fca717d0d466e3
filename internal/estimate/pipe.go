// Package estimate finds out what observed calls would weigh, and cost, in other serializations.
//
// Decoded messages come in; a table of targets comes out. Dubbo's own serializers write the bodies, in a Java virtual machine
// that package jvm starts: values travel to it as records, and sizes come back. What a table needs besides (sampling, the
// comparison with what was observed, frames, compression) is done here.
package estimate

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// Record is what the Java side is told of a message before its values.
type Record struct {
	ID       int64
	Group    int32
	Response bool
	// Operation is that of the request, also for a response; nil if it is not known.
	Operation *rpc.Operation
	// ResultKind is Dubbo's number of the result kind, 0 to 5, of a response.
	ResultKind int8
	// Values are what AppendValues has made of the message.
	Values []byte
}

// Append appends a record: lengths and numbers are big-endian, a text is its length in bytes (-1: null) and UTF-8.
func (r *Record) Append(dst []byte) []byte {
	kind := byte(1)
	if r.Response {
		kind = 2
	}
	dst = binary.BigEndian.AppendUint64(append(dst, kind), uint64(r.ID))
	dst = binary.BigEndian.AppendUint32(dst, uint32(r.Group))
	if op := r.Operation; op != nil {
		dst = appendText(dst, op.ProtocolVersion)
		dst = appendNullable(dst, op.Service, op.ServiceNull)
		dst = appendNullable(dst, op.Version, op.VersionNull)
		dst = appendText(dst, op.Method)
		if types := descriptor(op); types != "" || op.Parameters() == 0 {
			dst = appendText(dst, types)
		} else {
			dst = appendNull(dst)
		}
	} else {
		for range 5 {
			dst = appendNull(dst)
		}
	}
	dst = append(dst, byte(max(r.ResultKind, 0)))
	return append(dst, r.Values...)
}

func descriptor(op *rpc.Operation) string {
	if op.Descriptor != "" {
		return op.Descriptor
	}
	return strings.Join(op.Descriptors, "")
}

// AppendValues appends the arguments of a request or the result of a response, and the attachments. If they cannot be sent, it
// returns dst and the cause.
//
// The message must have been decoded with rpc.Values.
func AppendValues(dst []byte, m *rpc.Message) (values []byte, cause string) {
	if cause := unsent(m); cause != "" {
		return dst, cause
	}
	t, top := m.Tree, [3]int{-1, -1, -1} // arguments, result, attachments
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		switch n := &t.Nodes[i]; {
		case n.Label != decode.ByField:
		case n.Name == "args":
			top[0] = i
		case n.Name == "result":
			top[1] = i
		case n.Name == "attachments":
			top[2] = i
		}
	}
	p := piper{t: t, dst: dst}
	if m.Format != nil {
		p.format = m.Format.Name
	}
	if m.Format != nil && m.Format.Name == "protostuff" {
		p.again = rootsAgain(t, top[0], top[1])
	}
	switch {
	case m.Kind == rpc.Response && top[1] >= 0:
		p.int32(1)
		p.node(top[1])
	case m.Kind == rpc.Response && m.ResultKind >= 0 && m.ResultKind%3 == 2: // null, which some serializations do not write
		p.int32(1)
		p.null()
	case m.Kind == rpc.Response:
		p.int32(0)
	case top[0] >= 0:
		p.children(top[0])
	case m.Operation != nil && m.Operation.Parameters() == 0:
		p.int32(0)
	default:
		return dst, "the arguments are not decoded"
	}
	about := len(p.dst)
	p.dst = append(p.dst, 0)
	switch {
	case top[2] >= 0 && t.Nodes[top[2]].Kind == decode.Map:
		p.dst[about] |= hasAttachments
		p.node(top[2])
	case len(m.Headers) > 0:
		p.dst[about] |= hasAttachments
		p.headers(m)
	default:
		if f := m.Format; f != nil && f.NoAttachments && p.unwritten == "" && (m.Kind != rpc.Response || m.ResultKind >= 3) {
			p.unwritten = f.Name + " writes no attachments, so those of the call are not known"
		}
	}
	if p.cause != "" {
		return dst, p.cause
	}
	if p.unwritten != "" {
		p.dst[about] |= lacksValues
		p.text(p.unwritten)
	}
	if m.Format != nil && slices.Contains(copiesTimes, m.Format.Name) {
		p.dst[about] |= copiedTimes
	}
	if m.Format != nil && (m.Format.Name == "protobuf" || m.Format.Name == "protobuf-json") {
		p.dst[about] |= protobufOnly
	}
	return p.dst, ""
}

// What follows the values of a message, and what is known of it: bits of one byte.
const (
	hasAttachments = 1 // the attachments follow
	lacksValues    = 2 // a text follows, which says what the serialization has not written
	copiedTimes    = 4 // a time that two fields have was written twice
	protobufOnly   = 8 // its serialization writes messages of protocol buffers
)

// copiesTimes are serializations that write references to objects, but not to times.
var copiesTimes = []string{"fury", "fury-compatible"}

// unsent returns why a message cannot be sent, "" if it can.
func unsent(m *rpc.Message) string {
	switch {
	case !m.Complete:
		return "incomplete in the capture"
	case m.Kind.Control():
		return "not a call"
	case m.Failed:
		return "a response with an error"
	case m.Exception:
		return "an exception"
	case m.Protocol != nil && m.Protocol.PlainHTTP && (m.Format == nil || m.Operation != nil && descriptor(m.Operation) == ""):
		return "plain HTTP is not estimated"
	case m.Tree == nil:
		return "not decoded"
	case m.Err != nil:
		switch name := m.QualifiedSerialization(); {
		case m.Err.Class != "":
			return name + ": the fields of " + m.Err.Class + " need its jar (--classpath)"
		case m.Err.Cause == decode.Unsupported && m.Err.Found == "":
			return name + ": not decoded to values"
		default:
			return name + ": " + m.Err.Error()
		}
	}
	return ""
}

// piper appends values of a tree.
type piper struct {
	format string
	own    bool // what follows is what a class of the JDK has written by its own code
	t      *decode.Tree
	dst    []byte
	cause  string
	// numbers are those of the nodes in the order sent, by their index in the tree, -1 for others; next is the next one.
	numbers []int32
	next    int32
	depth   int
	// again has the places of objects of which the wire has another copy, by the copy. Their parts are sent where they are met first.
	again map[int]int
	// unwritten says what of the message its serialization does not write: other serializations cannot write the message.
	unwritten string
}

// unwritten is the kind of a value that takes no bytes, whatever it is. The Java side puts any value of the declared class there.
const unwritten = 16

// maxPiped is the depth of values that are sent: Dubbo's serializers recurse.
const maxPiped = 400

func (p *piper) int32(n int)       { p.dst = binary.BigEndian.AppendUint32(p.dst, uint32(int32(n))) }
func (p *piper) int64(n int64)     { p.dst = binary.BigEndian.AppendUint64(p.dst, uint64(n)) }
func (p *piper) text(s string)     { p.dst = appendText(p.dst, s) }
func (p *piper) optional(s string) { p.dst = appendNullable(p.dst, s, s == "") }

func (p *piper) fail(i int, why string) {
	if p.cause == "" {
		p.cause = why
		if path := p.t.Path(i); path != "" {
			p.cause = path + ": " + why
		}
	}
}

func (p *piper) null() {
	p.dst = append(p.dst, byte(decode.Null), byte(decode.Whole))
	p.dst = appendNull(appendNull(p.dst))
	p.next++
}

// headers sends the attachments that travel outside the body as a map of strings.
func (p *piper) headers(m *rpc.Message) {
	n := 0
	for i := range m.Headers {
		if h := &m.Headers[i]; h.Key != "" && !h.Trailer {
			n += 2
		}
	}
	p.dst = append(p.dst, byte(decode.Map), byte(decode.ByField))
	p.dst = appendNull(appendText(p.dst, "attachments"))
	p.int32(n)
	for i := range m.Headers {
		h := &m.Headers[i]
		if h.Key == "" || h.Trailer {
			continue
		}
		if h.Unknown {
			p.cause = "an attachment is in a header sent before the capture"
			return
		}
		for k, text := range [2]string{h.Key, h.Value} {
			p.dst = append(p.dst, byte(decode.String), byte(decode.ByKey)+2*byte(k))
			p.dst = appendNull(appendNull(p.dst))
			p.text(text)
		}
	}
}

// node sends node i with what is in it.
func (p *piper) node(i int) {
	n := &p.t.Nodes[i]
	if of, ok := p.again[i]; ok && p.sent(of) {
		p.reference(n, of)
		return
	}
	if n.Kind == decode.Ref && len(p.again) > 0 {
		of := int(n.Num)
		if root, ok := p.again[of]; ok {
			of = root
		}
		if p.sent(of) {
			p.reference(n, of)
			return
		}
		if k := p.t.Nodes[max(of, 0)].Kind; of != i && (k == decode.Object || k == decode.List || k == decode.Map) {
			p.moved(i, of)
			return
		}
	}
	if p.numbers == nil {
		p.numbers = make([]int32, len(p.t.Nodes))
		for k := range p.numbers {
			p.numbers[k] = -1
		}
	}
	number := p.next
	p.numbers[i] = number
	p.next++
	if p.depth++; p.depth > maxPiped {
		p.fail(i, fmt.Sprintf("nested more than %d deep", maxPiped))
		return
	}
	name := ""
	if n.Label == decode.ByField {
		name = n.Name
	}
	kind, label, class := n.Kind, n.Label, n.Class
	same := int(n.Same) - 1
	if kind == decode.Ref {
		same = int(n.Num)
	} else if p.sent(same) && p.numbers[same] < number {
		kind = decode.Ref // a copy of what is printed twice
	}
	if kind == decode.Alias {
		kind = decode.Object // a collection around another one
		if strings.Contains(class, "hessian") {
			// Hessian's own class in place of an EnumSet.
			if n.Num <= int64(i) || n.Num >= int64(n.End) {
				p.fail(i, "not a field of it")
				return
			}
			i = int(n.Num)
			n, class = &p.t.Nodes[i], "java.util.EnumSet"
			if kind, p.numbers[i] = n.Kind, number; kind == decode.Ref {
				same = int(n.Num)
			}
		}
	}
	if wrapper, inner, ok := strings.Cut(strings.TrimSuffix(class, ">"), "<"); ok && (kind == decode.List || kind == decode.Map) {
		field := "c"
		if kind == decode.Map {
			field = "m"
		}
		p.dst = append(p.dst, byte(decode.Object), byte(label))
		p.optional(name)
		p.optional(wrapper)
		p.int32(1)
		label, name, class = decode.ByField, field, inner
		p.next++
	}
	at := len(p.dst)
	p.dst = append(p.dst, byte(kind), byte(label))
	p.optional(name)
	p.optional(class)
	switch kind {
	case decode.Null:
	case decode.Bool:
		p.dst = append(p.dst, byte(n.Num))
	case decode.Int:
		p.int64(n.Num)
	case decode.Float32:
		p.dst = binary.BigEndian.AppendUint32(p.dst, math.Float32bits(float32(n.Float)))
	case decode.Float64:
		p.int64(int64(math.Float64bits(n.Float)))
		p.optional(n.Text)
	case decode.Char, decode.String, decode.Decimal:
		p.text(n.Text)
	case decode.Bytes:
		p.text(string(n.Raw))
	case decode.Date:
		p.text(n.Text)
		p.int64(n.Num)
	case decode.Enum:
		p.text(n.Text)
		p.int64(n.Num)
	case decode.List, decode.Map, decode.Object:
		p.children(i)
	case decode.Ref:
		if p.sent(same) && p.numbers[same] < number {
			p.int32(int(p.numbers[same]))
		} else {
			p.fail(i, "a reference to what is not a value")
		}
	case decode.Custom:
		p.fail(i, "bytes that the application's own code wrote")
	case decode.Opaque:
		if n.Num != 1 {
			p.fail(i, "not decoded")
			break
		}
		p.dst[at] = unwritten
		if p.unwritten == "" {
			p.unwritten = p.format + " does not write " + p.named(n)
		}
	default:
		p.fail(i, "not decoded")
	}
	p.depth--
}

// reference sends a reference in place of node n.
func (p *piper) reference(n *decode.Node, of int) {
	p.dst = append(p.dst, byte(decode.Ref), byte(n.Label))
	if n.Label == decode.ByField {
		p.optional(n.Name)
	} else {
		p.dst = appendNull(p.dst)
	}
	p.dst = appendNull(p.dst)
	p.int32(int(p.numbers[of]))
	p.next++
}

// named names a value by its field, or says which of several it is.
func (p *piper) named(n *decode.Node) string {
	switch of := int(n.Parent); {
	case n.Label == decode.ByField && of >= 0 && p.t.Nodes[of].Class != "":
		class := p.t.Nodes[of].Class
		return class[strings.LastIndexByte(class, '.')+1:] + "." + n.Name
	case n.Label == decode.ByField && n.Name != "args" && n.Name != "result":
		return n.Name
	case of >= 0 && p.t.Nodes[of].Name == "args":
		return fmt.Sprintf("argument %d", n.Index+1)
	case n.Name == "result":
		return "the result"
	}
	return "an element"
}

// moved sends an object in place of the reference at node i.
func (p *piper) moved(i, of int) {
	n, label, name := &p.t.Nodes[of], p.t.Nodes[of].Label, p.t.Nodes[of].Name
	n.Label, n.Name = p.t.Nodes[i].Label, p.t.Nodes[i].Name
	p.node(of)
	n.Label, n.Name = label, name
}

// sent reports whether a node has a number.
func (p *piper) sent(i int) bool { return i >= 0 && i < len(p.numbers) && p.numbers[i] >= 0 }

// children sends the values in node i, after their number.
func (p *piper) children(i int) {
	at, count := len(p.dst), 0
	p.int32(0)
	own, jdk := p.own, strings.HasPrefix(p.t.Nodes[i].Class, "java.")
	for c := i + 1; c < int(p.t.Nodes[i].End) && p.cause == ""; c = int(p.t.Nodes[c].End) {
		n := &p.t.Nodes[c]
		if n.Kind == decode.Overhead || n.Kind == decode.Custom && (jdk || own) {
			continue
		}
		p.own = jdk && n.Label == decode.ByField && n.Name == "#custom"
		p.node(c)
		count++
	}
	p.own = own
	binary.BigEndian.PutUint32(p.dst[at:], uint32(count))
}

func appendNull(dst []byte) []byte { return binary.BigEndian.AppendUint32(dst, math.MaxUint32) }

func appendText(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

func appendNullable(dst []byte, s string, null bool) []byte {
	if null {
		return appendNull(dst)
	}
	return appendText(dst, s)
}
