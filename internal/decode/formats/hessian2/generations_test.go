package hessian2

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats/formattest"
)

const numberingRows = "testdata/numbering.tsv"

// generation is a row of numbering.tsv.
type generation struct {
	source, container, value string
	body                     []byte
}

func generations(tb testing.TB) (rows []generation) {
	tb.Helper()
	in, err := os.Open(numberingRows)
	require.NoError(tb, err)
	defer in.Close()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if c := strings.Split(lines.Text(), "\t"); len(c) == 5 {
			rows = append(rows, generation{c[0], c[1], c[2], formattest.Hex(c[4])})
		}
	}
	require.NoError(tb, lines.Err())
	require.NotEmpty(tb, rows)
	return rows
}

func (g generation) format() decode.Format {
	f := Format
	if strings.HasPrefix(g.source, "hessian 4") {
		f.New = func() decode.Reader { return NewOriginal() }
	}
	return f
}

// elements returns the nodes of the elements of the result.
func elements(tree *decode.Tree) (list []int) {
	for i := range tree.Nodes {
		if n := &tree.Nodes[i]; n.Name != "result" || n.Kind != decode.List {
			continue
		}
		for c := i + 1; c < int(tree.Nodes[i].End); c = int(tree.Nodes[c].End) {
			if tree.Nodes[c].Kind != decode.Overhead {
				list = append(list, c)
			}
		}
		return list
	}
	return nil
}

// TestGenerations: whoever wrote a body, references after a value mean what was written. Where the body has nothing that
// tells, a reference may be left open, and never means another object.
func TestGenerations(t *testing.T) {
	right, open := 0, 0
	for _, g := range generations(t) {
		name := fmt.Sprintf("%s: %s with %s", g.source, g.container, g.value)
		m := formattest.Response(g.format(), g.body, decode.Malformed)
		require.Nil(t, m.Err, name)
		require.Equal(t, len(g.body), m.Taken, name)
		formattest.Balance(t, &m.Tree, m.Taken)
		formattest.Check(t, g.format(), g.body)
		e := elements(&m.Tree)
		require.Len(t, e, 7, name)
		for at, means := range map[int]int{3: 2, 4: 0, 6: 2} {
			n := m.Tree.Nodes[e[at]]
			if n.Kind == decode.Opaque {
				assert.Equal(t, "array", g.container, "%s, element %d is left open", name, at)
				open++
				continue
			}
			if assert.Equal(t, decode.Ref, n.Kind, "%s, element %d", name, at) {
				assert.Equal(t, int64(e[means]), n.Num, "%s, element %d", name, at)
			}
			right++
		}
	}
	t.Logf("%d references are right, %d left open", right, open)
	assert.Greater(t, right, 10*open)
}

// TestCompactTimes: the times that Dubbo 3.3.6 writes, in the compact mode and without.
func TestCompactTimes(t *testing.T) {
	want := map[string]string{
		"LocalDate":             "2020-01-02",
		"LocalDate before 1970": "1960-01-02",
		"LocalDate.MIN":         "-999999999-01-01",
		"LocalDate.MAX":         "+999999999-12-31",
		"LocalTime":             "03:04:05.000006",
		"LocalTime.MIN":         "00:00",
		"LocalTime.MAX":         "23:59:59.999999999",
		"LocalDateTime":         "2020-01-02T03:04:05.000006",
		"ZonedDateTime":         "2020-01-02T03:04:05.000006+01:00[Europe/Paris]",
		"OffsetDateTime":        "2020-01-02T03:04:05.000006+08:00",
		"OffsetTime":            "03:04:05.000006Z",
	}
	seen := map[string]bool{}
	for _, g := range generations(t) {
		text, is := want[g.value]
		if !is {
			continue
		}
		m := formattest.Response(g.format(), g.body, decode.Malformed)
		e := elements(&m.Tree)
		require.Len(t, e, 7)
		for _, at := range []int{1, 5} { // written again, or a reference
			assert.Equal(t, `{"@date":"`+text+`"}`, string(m.Tree.AppendJSON(nil, e[at])), "%s: %s, element %d", g.source, g.value, at)
		}
		seen[g.source+g.value] = true
	}
	for name := range want {
		assert.True(t, seen["Dubbo 3.3.6, compact"+name], name)
		assert.True(t, seen["Dubbo 3.3.6"+name], name)
	}
}

// TestCompactOutOfRange: longs that are neither dates nor times stay what is on the wire.
func TestCompactOutOfRange(t *testing.T) {
	value := func(class string, v func(*writer) *writer, fields ...string) string {
		return formattest.Value(t, Format, v(new(writer).object(class, fields...)).b)
	}
	long := func(n int64) func(*writer) *writer { return func(w *writer) *writer { return w.long(n) } }
	for _, n := range []int64{maxEpochDay + 1, minEpochDay - 1, 1<<63 - 1, -1 << 63} {
		assert.Equal(t, fmt.Sprintf(`{"@class":"java.time.LocalDate","epochDay":%d}`, n), value("java.time.LocalDate", long(n)))
	}
	for _, n := range []int64{-1, dayNanos, 1<<63 - 1, -1 << 63} {
		assert.Equal(t, fmt.Sprintf(`{"@class":"java.time.LocalTime","nanoOfDay":%d}`, n), value("java.time.LocalTime", long(n)))
	}
	assert.Equal(t, `{"@class":"java.time.LocalDateTime","date":1,"time":-1}`,
		value("java.time.LocalDateTime", func(w *writer) *writer { return w.long(1).long(-1) }, "date", "time"))
	assert.Equal(t, `{"@class":"java.time.LocalDateTime","date":1,"time":null}`,
		value("java.time.LocalDateTime", func(w *writer) *writer { return w.long(1).null() }, "date", "time"))
	// With fields the class is as any other.
	assert.Equal(t, `[{"@class":"java.time.LocalDate","year":1},5]`,
		formattest.Value(t, Format, new(writer).list(2).object("java.time.LocalDate", "year").int(1).int(5).b))
}
