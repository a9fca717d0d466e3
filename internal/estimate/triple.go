package estimate

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// Bytes of framing. Peers with Triple let frames hold up to 8 MiB.
const (
	dubboHeader = 16
	http2Header = 9
	grpcPrefix  = 5
	maxFrame    = 8 << 20
)

// isTriple reports whether a protocol has the frames of Triple.
func isTriple(p *rpc.Protocol) bool { return p.Name == "triple" || p.Name == "grpc" }

// frames returns the bytes of the headers of the HTTP/2 frames that n bytes need.
func frames(n int) int { return http2Header * max(1, (n+maxFrame-1)/maxFrame) }

// dataLen returns the bytes of the DATA frames of a message.
func dataLen(body int) int { return grpcPrefix + body + frames(grpcPrefix+body) }

// field is a field of a header block.
type field struct{ name, value string }

// ownAttachments are the attachments of the dubbo protocol that are not headers in Triple: they are in other headers, or not sent.
var ownAttachments = []string{"path", "interface", "version", "group", "remote.application", "dubbo", "input", "output"}

// fieldsOf returns the attachments of a message of the dubbo protocol: those that Triple sends as headers, and those that it needs
// for others. It returns nil for messages that have headers.
func fieldsOf(m *rpc.Message) []field {
	if m.Headers != nil || m.Tree == nil {
		return nil
	}
	list := []field{}
	m.Attachments(func(key string, value, _, _ int) {
		n := &m.Tree.Nodes[value]
		if n.Kind == decode.Ref && n.Num >= 0 && n.Num < int64(len(m.Tree.Nodes)) {
			n = &m.Tree.Nodes[n.Num]
		}
		text := n.Text
		switch n.Kind {
		case decode.String:
		case decode.Int:
			text = strconv.FormatInt(n.Num, 10)
		default:
			return // Triple sends texts only
		}
		list = append(list, field{key, text})
	})
	return list
}

// framing counts the header blocks that calls would have if they were Triple's. It sees all messages in capture order, so that it knows
// the dynamic table of each connection.
type framing struct{ tables map[[2]int]*headerTable }

// maxTables bounds the connections whose tables are remembered.
const maxTables = 1 << 15

// headers returns the bytes of the frames with header blocks of a message.
func (f *framing) headers(r *pipeline.Row, attachments []field) int32 {
	m := r.Msg
	if attachments == nil || m.Failed || m.Kind == rpc.Request && m.Operation == nil {
		return 0
	}
	if len(f.tables) >= maxTables || f.tables == nil {
		f.tables = make(map[[2]int]*headerTable)
	}
	t := f.tables[[2]int{r.Conn.Number, r.Side}]
	if t == nil {
		t = new(headerTable)
		f.tables[[2]int{r.Conn.Number, r.Side}] = t
	}
	if m.Kind == rpc.Response {
		head := t.block(field{":status", "200"}, field{"te", "trailers"}, field{"content-type", "application/grpc"})
		trailers := []field{{"grpc-status", "0"}}
		for _, a := range attachments {
			if !slices.Contains(ownAttachments, a.name) {
				trailers = append(trailers, field{strings.ToLower(a.name), a.value})
			}
		}
		end := t.block(trailers...)
		return int32(frames(head) + head + frames(end) + end)
	}
	op := m.Operation
	get := func(key string) string {
		for _, a := range attachments {
			if a.name == key {
				return a.value
			}
		}
		return ""
	}
	timeout := get("timeout")
	if _, err := strconv.Atoi(timeout); err != nil {
		timeout = "1000"
	}
	list := []field{
		{":scheme", "http"},
		{":authority", r.Conn.Ends[1-r.Side]},
		{":method", "POST"},
		{":path", "/" + op.Service + "/" + op.Method},
		{"content-type", "application/grpc+proto"},
		{"te", "trailers"},
		{"grpc-timeout", timeout + "000u"},
	}
	if v := op.Version; v != "" && v != "0.0.0" {
		list = append(list, field{"tri-service-version", v})
	}
	if group := get("group"); group != "" {
		list = append(list, field{"tri-service-group", group})
	}
	if name := get("remote.application"); name != "" {
		list = append(list, field{"tri-consumer-appname", name})
	}
	list = append(list, field{"grpc-accept-encoding", "gzip,snappy"})
	for _, a := range attachments {
		if !slices.Contains(ownAttachments, a.name) {
			list = append(list, field{strings.ToLower(a.name), a.value})
		}
	}
	n := t.block(list...)
	return int32(frames(n) + n)
}

// headerTable is the dynamic table of one direction of a connection (RFC 7541), as Netty's encoder fills it.
type headerTable struct {
	entries []field // the oldest first
	size    int
}

const (
	tableSize    = 4096
	entryBytes   = 32 // of a table's entry besides its name and value
	staticFields = 61
	// huffmanFrom is the length of texts from which on Netty tries Huffman codes.
	huffmanFrom = 512
)

// static has the fields and the names of the static table.
var static = func() map[field]int {
	table, at := make(map[field]int), 1
	d := hpack.NewDecoder(0, func(f hpack.HeaderField) {
		for _, key := range [2]field{{f.Name, f.Value}, {f.Name, ""}} {
			if _, ok := table[key]; !ok {
				table[key] = at
			}
		}
	})
	for ; at <= staticFields; at++ {
		_, _ = d.Write([]byte{0x80 | byte(at)})
	}
	return table
}()

// block returns the bytes of a header block, and changes the table as the block does.
func (t *headerTable) block(fields ...field) (n int) {
	for _, f := range fields {
		n += t.field(f)
	}
	return n
}

func (t *headerTable) field(f field) int {
	if i, ok := static[f]; ok && f.value != "" {
		return intLen(i, 7)
	}
	name := static[field{name: f.name}]
	for k := len(t.entries) - 1; k >= 0; k-- {
		if e := &t.entries[k]; e.name == f.name {
			i := staticFields + len(t.entries) - k
			if e.value == f.value {
				return intLen(i, 7)
			}
			if name == 0 {
				name = i
			}
		}
	}
	size, prefix := len(f.name)+len(f.value)+entryBytes, 6
	if size > tableSize {
		prefix = 4 // it does not become an entry
	}
	n := intLen(name, prefix) + textLen(f.value)
	if name == 0 {
		n += textLen(f.name)
	}
	if size > tableSize {
		return n
	}
	for len(t.entries) > 0 && t.size+size > tableSize {
		t.size -= len(t.entries[0].name) + len(t.entries[0].value) + entryBytes
		t.entries = slices.Delete(t.entries, 0, 1)
	}
	t.entries = append(t.entries, f)
	t.size += size
	return n
}

// intLen returns the bytes of an integer with a prefix of some bits.
func intLen(i, prefix int) int {
	most := 1<<prefix - 1
	if i < most {
		return 1
	}
	n := 2
	for i -= most; i >= 128; i >>= 7 {
		n++
	}
	return n
}

func textLen(s string) int {
	n := len(s)
	if n >= huffmanFrom {
		n = min(n, int(hpack.HuffmanEncodeLength(s)))
	}
	return intLen(n, 7) + n
}

// serializeTypes are the names of serializations in the wrappers of Triple, where they are not their own.
var serializeTypes = map[string]string{"hessian2": "hessian4"}

// wrappedLen returns the bytes of Triple's wrapper around the values of a message of the dubbo protocol, if each value keeps its bytes; -1 if
// it cannot be told. The type of a result is that of its value: the message does not name the declared one.
func wrappedLen(m *rpc.Message) int {
	if m.Tree == nil || m.Err != nil || m.Headers != nil || m.Format == nil {
		return -1
	}
	name := m.Format.Name
	if s := serializeTypes[name]; s != "" {
		name = s
	}
	text := func(n int) int { return 1 + protowire.SizeBytes(n) } // with its tag
	t, size := m.Tree, text(len(name))
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		switch top := &t.Nodes[i]; {
		case top.Label != decode.ByField:
		case top.Name == "args" && m.Kind == rpc.Request:
			for c := i + 1; c < int(top.End); c = int(t.Nodes[c].End) {
				if t.Nodes[c].Label == decode.ByIndex {
					size += text(subtreeLen(t, c))
				}
			}
		case top.Name == "result" && m.Kind == rpc.Response:
			return size + text(subtreeLen(t, i)) + text(len(resultType(top)))
		}
	}
	switch {
	case m.Kind == rpc.Response && m.ResultKind >= 0 && m.ResultKind%3 == 2: // null, which is one byte
		return size + text(1) + text(len("void"))
	case m.Kind == rpc.Response || m.Operation == nil || m.Operation.Types == nil && m.Operation.Parameters() != 0:
		return -1
	}
	for _, d := range m.Operation.Descriptors {
		size += text(len(className(d)))
	}
	return size
}

func subtreeLen(t *decode.Tree, i int) (n int) {
	for k := i; k < int(t.Nodes[i].End); k++ {
		n += int(t.Nodes[k].Len)
	}
	return n
}

// resultType returns the name of a value's class.
func resultType(n *decode.Node) string {
	switch {
	case n.Kind == decode.List && !strings.HasSuffix(n.Class, "]"):
		return "java.util.List" // few methods declare a class
	case n.Kind == decode.Map:
		return "java.util.Map"
	case n.Class != "":
		return n.Class
	case n.Kind == decode.Bool:
		return "boolean"
	case n.Kind == decode.Int:
		return "int"
	}
	return "java.lang.String"
}

// className returns a descriptor as Class.getName does: arrays keep the form of descriptors.
func className(descriptor string) string {
	if strings.HasPrefix(descriptor, "[") {
		return strings.ReplaceAll(descriptor, "/", ".")
	}
	return decode.JavaName(descriptor)
}
