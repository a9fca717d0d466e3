package pipeline

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// readRow is what a row has of the values of a message.
type readRow struct {
	values string
	tree   bool
	whole  bool
}

// rowsByCall has the rows of a capture, and the operations that their calls have.
type rowsByCall struct {
	rows       []readRow // by number - 1
	operations map[int64]*rpc.Operation
}

func (s *rowsByCall) Frame(r *Row) {
	m := r.Msg
	row := readRow{tree: m.Tree != nil, whole: m.IsWhole()}
	if row.tree {
		b := m.AppendAttachments(m.AppendResult(m.AppendArguments(nil)), false)
		row.values = string(b)
	}
	s.rows = append(s.rows, row)
}

func (s *rowsByCall) Call(c *call.Call, _ bool) {
	if c.Request == nil || c.Request.Operation == nil {
		return
	}
	for _, m := range [2]*call.Message{c.Request, c.Response} {
		if m != nil {
			s.operations[m.Number] = c.Request.Operation
		}
	}
}

// TestOperations: the values of calls of the wanted operations are the same as if all were wanted, and those of others are not decoded.
func TestOperations(t *testing.T) {
	wanted := func(o *rpc.Operation) bool { return len(o.Method)%2 == 0 }
	testkit.Each(t, 12, func(t *testing.T, c *testkit.Capture) {
		read := func(operations func(*rpc.Operation) bool) *rowsByCall {
			src, err := capture.Open([]string{c.Path()}, capture.Options{})
			require.NoError(t, err)
			defer src.Close()
			s := &rowsByCall{operations: make(map[int64]*rpc.Operation)}
			_, err = Run(src, Options{Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true, Operations: operations}, s)
			require.NoError(t, err)
			return s
		}
		all, some := read(nil), read(wanted)
		require.Len(t, some.rows, len(all.rows))
		without, unwanted := 0, 0
		for number, o := range all.operations {
			want, got := all.rows[number-1], some.rows[number-1]
			switch {
			case wanted(o):
				assert.Equal(t, want, got, "message %d of %s", number, o.Method)
			case want.tree && want.whole:
				if unwanted++; !got.tree {
					without++
				}
			}
		}
		if unwanted > 20 { // the first request of each operation is decoded before it is known which one it is
			assert.Greater(t, without, unwanted/3)
		}
	})
}
