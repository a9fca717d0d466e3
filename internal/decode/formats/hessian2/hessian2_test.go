package hessian2

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/dev/testkit"
)

// Measured bytes of Dubbo 2.5.3, 2.6.12, 2.7.8 and 3.3.4 on JDK 17: what writeObject and writeUTF wrote, and frames
// between real consumers and providers.
const (
	valueRows = "testdata/values.tsv"
	frameRows = "testdata/frames.tsv"
)

// TestMeasured compares every measured row, its values as JSON and its parts, with a transcript.
func TestMeasured(t *testing.T) {
	var out bytes.Buffer
	out.WriteString("# go test ./internal/decode/formats/hessian2 -run TestMeasured -update\n")
	for _, row := range append(formattest.Values(t, valueRows), formattest.Frames(t, frameRows)...) {
		fmt.Fprintf(&out, "\n%s, %s\n", row.Source, row.Name)
		m := walkRow(row)
		require.Nil(t, m.Err, "%s, %s", row.Source, row.Name)
		require.Equal(t, len(row.Body), m.Taken, "%s, %s", row.Source, row.Name)
		formattest.Balance(t, &m.Tree, m.Taken)
		transcript(&out, &m.Tree)
	}
	testkit.Golden(t, "testdata/measured.golden", out.String())
}

// walkRow reads a row as what it is: a request, a response, an event, an error text or values written one by one.
func walkRow(row formattest.Row) *formattest.Message {
	body := row.Body
	switch name := row.Name; {
	case bytes.HasPrefix(body, []byte("\x052.")):
		return formattest.Request(Format, body, decode.Malformed)
	case strings.HasSuffix(name, "S2C") && body[0] >= 0x90 && body[0] <= 0x95, strings.HasPrefix(name, "RES"),
		name == "callback C2S":
		return formattest.Response(Format, body, decode.Malformed)
	}
	m := &formattest.Message{Tree: decode.Tree{WithValues: true}}
	r := New()
	r.Reset(body, decode.Malformed, &m.Tree)
	for i := 0; r.Err() == nil && r.Offset() < len(body); i++ {
		r.Value(decode.ByField, fmt.Sprintf("value%d", i), 0, "")
	}
	m.Taken, m.Err = r.Offset(), r.Err()
	return m
}

// transcript writes the top-level values and the parts of a tree; long ones are cut.
func transcript(out *bytes.Buffer, tree *decode.Tree) {
	for i := 0; i < len(tree.Nodes); i = int(tree.Nodes[i].End) {
		fmt.Fprintf(out, "  %s = %s\n", tree.Nodes[i].Name, cut(string(tree.AppendJSON(nil, i)), 400))
	}
	var parts []string
	for _, p := range tree.Parts(nil, 0) {
		parts = append(parts, fmt.Sprintf("%s:%d", p.Path, p.Bytes))
	}
	fmt.Fprintf(out, "  %s\n", cut(strings.Join(parts, " "), 600))
}

func cut(s string, n int) string {
	if len(s) > n {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(s[:n], ""), len(s))
	}
	return s
}

// TestCutAnywhere cuts every measured row at every place: what lies before the cut is owned, the cause is the capture's.
func TestCutAnywhere(t *testing.T) {
	r := New()
	for _, row := range append(formattest.Values(t, valueRows), formattest.Frames(t, frameRows)...) {
		whole := walkRow(row)
		step := 1 + len(row.Body)/200
		for n := 0; n < len(row.Body); n += step {
			tree := decode.Tree{WithValues: true}
			r.Reset(row.Body[:n], decode.Cut, &tree)
			switch whole.Tree.Nodes[0].Name {
			case "dubboVersion":
				for _, name := range []string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"} {
					r.Text(name)
				}
				types, _ := decode.SplitDescriptor(whole.Texts[4])
				for i, typ := range types {
					r.Value(decode.ByIndex, "", i, typ)
				}
				r.Attachments()
			case "flag":
				r.ResultKind()
				if whole.Kind%3 != 2 {
					r.Value(decode.ByField, "result", 0, "")
				}
				if whole.Kind >= 3 {
					r.Attachments()
				}
			default:
				for range len(row.Body) {
					r.Value(decode.ByField, "result", 0, "")
				}
			}
			require.NotNil(t, r.Err(), "%s, %s cut at %d", row.Source, row.Name, n)
			require.Equal(t, decode.Cut, r.Err().Cause, "%s, %s cut at %d: %v", row.Source, row.Name, n, r.Err())
			formattest.Balance(t, &tree, r.Offset())
		}
	}
}

// TestReaderReuse reads many bodies with one Reader and one tree: nothing of one may show in the next.
func TestReaderReuse(t *testing.T) {
	r := New()
	tree := decode.Tree{WithValues: true}
	rows := formattest.Values(t, valueRows)
	for range 2 {
		for _, row := range rows {
			tree.Reset()
			r.Reset(row.Body, decode.Malformed, &tree)
			r.Value(decode.ByField, "value0", 0, "")
			require.Nil(t, r.Err())
			want := walkRow(formattest.Row{Name: row.Name, Body: row.Body[:r.Offset()]})
			if whole := want.Value("value0"); whole != "" {
				require.Equal(t, whole, string(tree.AppendJSON(nil, 0)), "%s, %s", row.Source, row.Name)
			}
		}
	}
}
