package estimate

import (
	"testing"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// made returns a tree that data describes: of each pair of bytes the first is the kind of a node, and how it is labelled, the second what it
// refers to. Nodes are nested as decoders nest them; numbers may be wrong.
func made(data []byte) *decode.Tree {
	t := &decode.Tree{WithValues: true}
	t.Open(decode.List, decode.ByField, "args", 0, 0)
	classes := []string{"", "java.util.ArrayList", "java.util.Collections$UnmodifiableList<java.util.ArrayList>", "com.caucho.hessian.io.EnumSetHandle", "a<b"}
	for ; len(data) >= 2; data = data[2:] {
		kind, label, n := decode.Kind(data[0]%22), decode.Label(data[0]/22%7), int64(int8(data[1]))
		if kind > decode.Missing {
			if t.Depth() > 1 {
				t.Close()
			}
			continue
		}
		if label == decode.ByRole { // never of a value
			label = decode.Whole
		}
		var node *decode.Node
		if kind == decode.List || kind == decode.Map || kind == decode.Object || kind == decode.Alias {
			node = t.Node(t.Open(kind, label, "name", 0, 0))
		} else {
			node = t.Leaf(kind, label, "name", 0, 0, 0)
		}
		node.Num, node.Same, node.Class, node.Text = n, int32(n), classes[int(data[1])%len(classes)], "text"
	}
	t.CloseTo(0)
	return t
}

// FuzzRecord: whatever a decoder may leave in a tree, what is sent can be read to its end, or there is a cause and nothing is sent.
func FuzzRecord(f *testing.F) {
	f.Add([]byte{12, 0, 7, 1, 3, 2, 15, 1})
	f.Add([]byte{14, 3, 12, 2, 11, 1, 21, 0, 16, 3, 16, 4, 12, 1})
	f.Add([]byte{16, 3, 16, 8, 16, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		m := &rpc.Message{Tree: made(data)}
		m.Complete, m.Kind, m.Operation = true, rpc.Request, &rpc.Operation{Service: "s", Method: "m", Descriptor: "I"}
		recorded(t, m)
	})
}
