package triple

import (
	"bytes"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/hessian"
	"dubbo-wire/internal/rpc"
)

// The names of the serializations of Hessian over HTTP, by its version. Dubbo's name for the second one is native-hessian where it is a
// serialization of the dubbo protocol.
const (
	hessian1      = "hessian"
	hessian2      = "hessian2"
	nativeHessian = "native-hessian"
)

// hessianContent is what a body is that has a message of Hessian.
var hessianContent = content{kind: hessianMessage, name: hessian1}

// isHessian reports whether the subtype of a media type, in lower case, is that of Hessian: caucho's, or Spring's.
func isHessian(sub string) bool {
	switch sub {
	case "hessian", "x-hessian", "hessian2", "x-hessian2":
		return true
	}
	return false
}

// IsHessian reports whether the content type is that of Hessian.
func (h *Head) IsHessian() bool { return h.methodInBody && isHessian(subtypeOf(h.ContentType)) }

// IsHessian reports whether the decoded body of m, a message of plain HTTP, is one of Hessian.
func IsHessian(m *rpc.Message) bool {
	return m.Protocol.PlainHTTP && (m.Serialization == hessian1 || m.Serialization == hessian2)
}

// AsksForHessian reports whether clients of Hessian ask for responses in another version than that of the request: Dubbo's send the first
// one, and ask for the second.
func AsksForHessian(request, response string) bool {
	return request == hessian1 && response == hessian2
}

// hessianValues returns the reader for values of Hessian, nil if there is none.
func (d *Decoder) hessianValues() hessian.Values {
	if all := d.byName[nativeHessian]; len(all) > 0 {
		v, _ := all[0].reader().(hessian.Values)
		return v
	}
	return nil
}

// openHessian reads what the start of a message of Hessian tells. It needs all of the body if the name of the method may have the types of
// parameters.
func (b *body) openHessian() {
	m, d := b.m, b.d
	m.Serialization = hessian1
	v := d.hessianValues()
	if v == nil {
		return
	}
	start, ok := hessian.Start(b.b, v)
	if !ok {
		return
	}
	b.hessian, b.fault, b.null = start, start.Kind == hessian.Fault, start.Null
	if start.Version == 2 {
		m.Serialization = hessian2
	}
	b.formats = d.byName[nativeHessian]
	m.Format = b.formats[0].format
	if m.Kind != rpc.Request || start.Kind != hessian.Call || start.Method == nil || !decode.CanBeName(string(start.Method)) {
		return
	}
	if m.Operation == nil || m.Operation.ContentType == "" { // the content type did not tell
		m.Operation = d.calledIn(b.heads)
	}
	name, types, overloaded := start.Method, [][]byte(nil), false
	if b.whole && bytes.IndexByte(name, '_') > 0 {
		if name, types, overloaded = hessian.Overload(&start, b.b, v, d.mangled); !overloaded {
			name = start.Method
		} else if types != nil {
			d.mangled = types
		}
	}
	m.Operation = d.withMethod(m.Operation, name, types)
}

// enoughHessian is Enough for a message of Hessian.
func (d *Decoder) enoughHessian(m *rpc.Message, b []byte) bool {
	start, ok := hessian.Start(b, d.hessianValues())
	switch {
	case !ok:
		return len(b) >= enough
	case start.Cut, bytes.IndexByte(start.Method, '_') > 0:
		return false // the arguments tell overloads
	case isInvoke(string(start.Method)):
		return len(b) >= envelopeLen
	}
	return true
}

// hessianMethod reads only the first argument of $invoke, a string.
func (b *body) hessianMethod() {
	v := b.d.hessianValues()
	if v == nil || b.hessian.Version == 0 || b.hessian.Method == nil {
		return
	}
	t := decode.Tree{WithValues: true}
	v.Reset(b.b, decode.Malformed, &t)
	v.SetVersion(b.hessian.Version)
	v.Resume(b.hessian.Values)
	if b.hessian.Version == 2 {
		v.Int("argumentCount")
	}
	v.Value(decode.ByIndex, "", 0, "")
	for i := range t.Nodes {
		if n := &t.Nodes[i]; n.Kind == decode.String && n.Label == decode.ByIndex && n.Parent < 0 {
			b.m.GenericMethod = n.String()
			return
		}
	}
}

// readHessian reads a message of Hessian into the tree and returns the offset after it.
func (b *body) readHessian() int {
	m, t := b.m, b.m.Tree
	v := b.d.hessianValues()
	if v == nil {
		m.Err = &decode.Error{Cause: decode.Unsupported, Expected: "a decoder for " + nativeHessian}
		return 0
	}
	at := hessian.Read(v, b.b, b.short, t)
	m.Err = problem(v, 0)
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		switch n := &t.Nodes[i]; {
		case n.Label != decode.ByField:
		case n.Name == "args" && m.Operation != nil && m.Operation.Generic:
			m.ReadGeneric(i)
		case n.Name == "exception":
			m.ReadFault(i)
		}
	}
	return at
}

// calledIn returns what a request calls whose body says which method that is, whatever its content type is.
func (d *Decoder) calledIn(h Heads) *rpc.Operation {
	first, _ := h.both()
	head := *first
	head.ContentType, head.methodInBody = "x-application/"+hessian1, true
	head.target.contentType = head.ContentType
	return d.Operation(&head)
}

// genericPath is the end of the path to which Dubbo's consumers send generic calls.
const genericPath = "/generic"

// serviceOf returns the service in the path of a request whose body has the method.
func serviceOf(path string) string {
	if service := strings.Trim(strings.TrimSuffix(path, genericPath), "/"); service != "" {
		return service
	}
	return path
}

// withMethod returns op with the method that is in the body, and the types in its name. Equal ones are shared.
func (d *Decoder) withMethod(op *rpc.Operation, name []byte, types [][]byte) *rpc.Operation {
	if op == nil || op.Method != unknown { // the message is decoded again
		return op
	}
	o := &d.operations
	key := append(o.key[:0], name...)
	for _, typ := range types {
		key = append(append(key, 0), typ...)
	}
	o.key = key
	if known := o.typed[typed{op, string(key)}]; known != nil {
		return known
	}
	n := *op
	n.Method, n.Hash = string(name), 0
	n.Generic = isInvoke(n.Method)
	if types != nil {
		n.Types, n.Descriptors = make([]string, len(types)), make([]string, len(types))
		for i, typ := range types {
			element := bytes.TrimLeft(typ, "[")
			n.Types[i] = string(element) + strings.Repeat("[]", len(typ)-len(element))
		}
	}
	if op.Hash != 0 && o.room(2*len(key)) {
		if o.typed == nil {
			o.typed = make(map[typed]*rpc.Operation)
		}
		key := typed{op, string(key)}
		n.Hash = op.Hash ^ o.hash(key.types) | 1
		o.typed[key] = &n
	}
	return &n
}

// isInvoke reports whether a method is one of Dubbo's for generic calls.
func isInvoke(method string) bool { return method == "$invoke" || method == "$invokeAsync" }
