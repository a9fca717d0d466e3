package triple

import (
	"bytes"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/content/jsonrpc"
	"dubbo-wire/internal/rpc"
)

// jsonRPCType is the subtype of the media type of JSON-RPC, as Dubbo's client sends it.
const jsonRPCType = "json-rpc"

// null is a value that is none.
var null = []byte("null")

// batch is the method of a request that calls several methods.
const batch = "(batch)"

// openJSONRPC reads what the members of a message of JSON-RPC tell: the method of a request, how a call ended.
func (b *body) openJSONRPC() {
	m := b.m
	b.serialization(b.d.byName[json], json)
	m.Format = b.d.jsonPart
	if m.Kind == rpc.Request {
		if jsonrpc.IsBatch(b.b) {
			m.Operation = b.d.withMethod(m.Operation, []byte(batch), nil)
			return
		}
		for o := jsonrpc.Scan(b.b); o.Next(); {
			if o.Is("method") {
				if text, ok := o.Text(); ok && len(text) <= maxTargetLen && len(text) > 0 && decode.CanBeName(string(text)) {
					m.Operation = b.d.withMethod(m.Operation, text, nil)
				}
				return
			}
		}
		return
	}
	for o := jsonrpc.Scan(b.b); o.Next(); {
		isNull := bytes.HasPrefix(b.b[o.From:], null)
		switch {
		case o.Is("error") && !isNull:
			b.fault = true
			if m.Failed && !m.HasErrorText {
				m.ErrorMessage, m.HasErrorText = errorMessage(b.b[o.From:])
			}
			return
		case o.Is("result") && !isNull:
			return
		case o.Is("result"): // an error may follow
			b.null = true
		}
	}
}

// errorMessage returns the message in the error that b begins with.
func errorMessage(b []byte) (text string, ok bool) {
	for o := jsonrpc.Scan(b); o.Next(); {
		if o.Is("message") {
			if to := o.To(); to > 0 && b[o.From] == '"' {
				text, _, ok = quoted(decode.UTF8(b[o.From:to]))
			}
			break
		}
	}
	return text, ok
}

// enoughJSONRPC is Enough for a message of JSON-RPC.
func enoughJSONRPC(m *rpc.Message, b []byte) bool {
	if jsonrpc.IsBatch(b) {
		return true
	}
	for o := jsonrpc.Scan(b); o.Next(); {
		switch isNull := bytes.HasPrefix(b[o.From:], null[:min(len(null), len(b)-o.From)]); {
		case m.Kind == rpc.Request && o.Is("method"):
			return o.To() >= 0
		case m.Kind == rpc.Response && !isNull && (o.Is("error") || o.Is("result")):
			return true
		}
	}
	return false
}

// readJSONRPC reads a message of JSON-RPC into the tree and returns the offset after it. Parameters are the arguments, whatever their number;
// named ones are one argument. The members of the messages of a batch are those of the values in a list.
func (b *body) readJSONRPC() int {
	m, t := b.m, b.m.Tree
	if len(b.formats) == 0 {
		m.Err = decode.NotDecoded(0)
		return 0
	}
	r, ok := b.formats[0].reader().(wholeReader)
	if !ok {
		m.Err = decode.NotDecoded(0)
		return 0
	}
	if jsonrpc.IsBatch(b.b) {
		name := "result"
		if m.Kind == rpc.Request {
			name = "args"
		}
		return b.member(r, field{to: len(b.b)}, decode.ByField, name)
	}
	owned := 0
	o := jsonrpc.Scan(b.b)
	for m.Err == nil && t.Room(nodesOfMember) && o.Next() {
		t.Role("punct", owned, o.NameFrom-1)
		t.Role("field", o.NameFrom-1, o.NameFrom+len(o.Name)+1)
		t.Role("punct", o.NameFrom+len(o.Name)+1, o.From)
		owned = b.jsonMember(r, &o)
	}
	end := o.End()
	if end < 0 {
		if m.Err == nil {
			cause := b.short
			switch {
			case !t.Room(nodesOfMember):
				cause = decode.Limit
			case cause == decode.None:
				cause = decode.Malformed
			}
			m.Err = &decode.Error{Cause: cause, At: owned, Expected: "the rest of a message of JSON-RPC"}
		}
		return owned
	}
	end += len(b.b[end:]) - len(bytes.TrimLeft(b.b[end:], " \t\r\n"))
	t.Role("punct", owned, end)
	return end
}

// nodesOfMember is the number of nodes that a member takes in the tree at least: what is around its name, the name, and the value.
const nodesOfMember = 4

// jsonMember reads a member and returns the offset after it.
func (b *body) jsonMember(r wholeReader, o *jsonrpc.Scanner) int {
	m, t := b.m, b.m.Tree
	value := field{from: o.From, to: o.To()}
	if value.to < 0 {
		value.to = len(b.b)
	}
	l, name := decode.ByField, decode.UTF8(o.Name)
	switch {
	case m.Kind == rpc.Request && name == "params" && b.b[o.From] == '[':
		name = "args"
	case m.Kind == rpc.Request && name == "params":
		t.Open(decode.List, decode.ByField, "args", 0, o.From)
		at := b.member(r, value, decode.ByIndex, "")
		t.Close()
		return at
	case m.Kind == rpc.Response && b.fault && name == "error":
		name = "exception"
		i := len(t.Nodes)
		at := b.member(r, value, l, name)
		if i < len(t.Nodes) {
			m.ReadFault(i)
		}
		return at
	}
	return b.member(r, value, l, name)
}

// member reads the value of a member and returns the offset after what was read.
func (b *body) member(r wholeReader, f field, l decode.Label, name string) int {
	m, t := b.m, b.m.Tree
	short := decode.Malformed
	if f.to == len(b.b) && b.short != decode.None {
		short = b.short
	}
	value, depth := len(t.Nodes), t.Depth()
	r.Reset(b.b[f.from:f.to], short, t)
	r.Whole(l, name, 0)
	t.CloseTo(depth)
	for i := value; i < len(t.Nodes); i++ {
		t.Nodes[i].Off += int32(f.from)
	}
	if m.Err = problem(r, f.from); r.Err() != nil {
		t.FailValue(value, f.from, m.Err.At, f.to, l, name, 0)
	}
	return f.to
}
