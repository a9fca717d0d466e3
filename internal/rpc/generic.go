package rpc

import "dubbo-wire/internal/decode"

// ReadGeneric takes the invoked method and its types from the arguments of $invoke: a string, an array of type names,
// an array of values.
func (m *Message) ReadGeneric(args int) {
	t := m.Tree
	if args < 0 || !t.WithValues {
		return
	}
	for c := args + 1; c < int(t.Nodes[args].End); c = int(t.Nodes[c].End) {
		n := &t.Nodes[c]
		switch {
		case n.Label != decode.ByIndex:
		case n.Index == 0 && n.Kind == decode.String:
			m.GenericMethod = n.String()
		case n.Index == 1 && n.Kind == decode.List:
			m.GenericTypes = []string{}
			for k := c + 1; k < int(n.End); k = int(t.Nodes[k].End) {
				if t.Nodes[k].Kind == decode.String {
					m.GenericTypes = append(m.GenericTypes, t.Nodes[k].String())
				}
			}
		}
	}
}
