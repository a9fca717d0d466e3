// Package formattest has the helpers that the tests of all serializations share. It reads a body in Dubbo's order of fields,
// as a [Message], and checks what must hold for any bytes: extents, errors, memory, and equal sums with and without a tree.
package formattest

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/dubbo"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
)

// Message is the result of reading a body.
type Message struct {
	Tree  decode.Tree
	Texts []string
	Nulls []bool
	Kind  byte
	Taken int
	Err   *decode.Error
}

// Value returns the value of the top-level node of that name as JSON, "" when there is none.
func (m *Message) Value(name string) string {
	for i := 0; i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
		n := &m.Tree.Nodes[i]
		if n.Name == name && n.Label == decode.ByField {
			return string(m.Tree.AppendJSON(nil, i))
		}
	}
	return ""
}

// Wants reads each row of a file of values and compares it with what the row wants: the value as JSON, consumed to its
// last byte, or "!", the cause and what was expected.
func Wants(t *testing.T, f decode.Format, file string) {
	for _, row := range Values(t, file) {
		t.Run(row.Name, func(t *testing.T) {
			tree := decode.Tree{WithValues: true}
			r := f.New()
			r.Reset(row.Body, decode.Malformed, &tree)
			r.Value(decode.ByField, "result", 0, "")
			Balance(t, &tree, r.Offset())
			if err := r.Err(); err != nil {
				require.Equal(t, row.Want, "!"+err.Cause.String()+": "+err.Expected)
				return
			}
			require.Equal(t, row.Want, (&Message{Tree: tree}).Value("result"))
			require.Equal(t, len(row.Body), r.Offset(), "bytes taken")
		})
	}
}

// WantsFrames walks each row of a file of frames and compares what Summary says of it with what the row wants. Every
// body must be consumed to its last byte.
func WantsFrames(t *testing.T, f decode.Format, file string) {
	for _, row := range Frames(t, file) {
		t.Run(row.Name, func(t *testing.T) { wants(t, f, row) })
	}
}

func wants(t *testing.T, f decode.Format, row Row) {
	m := Walk(f, row)
	require.Equal(t, row.Want, m.Summary())
	require.Equal(t, len(row.Body), m.Taken, "bytes taken")
	Balance(t, &m.Tree, m.Taken)
	Check(t, f, row.Body)
}

// WantsBodies is WantsFrames for a file of values that are whole bodies; their names end as those of frames do.
func WantsBodies(t *testing.T, f decode.Format, file string) {
	for _, row := range Values(t, file) {
		t.Run(row.Source+" "+row.Name, func(t *testing.T) { wants(t, f, row) })
	}
}

// Walk walks a row of a file of frames: requests are sent by the client (C2S).
func Walk(f decode.Format, row Row) *Message {
	if strings.HasSuffix(row.Name, "C2S") {
		return Request(f, row.Body, decode.Malformed)
	}
	return Response(f, row.Body, decode.Malformed)
}

// Summary returns what a message holds in one line: of a request its strings, arguments and attachments, of a response
// its kind, its value, or class and message of its exception, and its attachments; then where and why the walk stopped.
func (m *Message) Summary() string {
	var parts []string
	for i, s := range m.Texts {
		if m.Nulls[i] {
			s = "null"
		}
		parts = append(parts, s)
	}
	if len(m.Texts) == 0 {
		parts = append(parts, strconv.Itoa(int(m.Kind)))
	}
	for _, name := range []string{"args", "result", "attachments"} {
		if v := m.Value(name); v != "" {
			parts = append(parts, v)
		}
	}
	if class, message, ok := m.exception(); ok {
		parts = append(parts, class+": "+message)
	}
	if m.Err != nil {
		parts = append(parts, fmt.Sprintf("!%s at %d: %s", m.Err.Cause, m.Err.At, m.Err.Expected))
	}
	return strings.Join(parts, " | ")
}

func (m *Message) exception() (class, message string, ok bool) {
	for i := range m.Tree.Nodes {
		n := &m.Tree.Nodes[i]
		if n.Name != "exception" || n.Label != decode.ByField {
			continue
		}
		for c := i + 1; c < int(n.End); c = int(m.Tree.Nodes[c].End) {
			switch f := &m.Tree.Nodes[c]; f.Name {
			case "detailMessage", "message", "msg", "originalMessage":
				message = f.Text
			}
		}
		return n.Class, message, true
	}
	return "", "", false
}

// Request walks a request body to its attachments, recording it.
func Request(f decode.Format, body []byte, short decode.Cause) *Message {
	m := &Message{Tree: decode.Tree{WithValues: true}}
	m.walk(decode.BodyRequest, f.New(), body, short, &m.Tree)
	return m
}

// envelope has the names of the texts that a request starts with.
var envelope = [...]string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"}

// walk reads the fields of a body in Dubbo's order, that of DubboCodec.encodeRequestData and encodeResponseData. The order is
// written here again, so that tests of serializations do not take it from package dubbo.
func (m *Message) walk(k decode.BodyKind, r decode.Reader, body []byte, short decode.Cause, t *decode.Tree) {
	r.Reset(body, short, t)
	switch k {
	case decode.BodyRequest:
		m.request(r, t)
	case decode.BodyResult:
		m.Kind = r.ResultKind()
		switch m.Kind {
		case 0, 3:
			r.Throwable()
			m.opaque(r, t)
		case 1, 4:
			r.Value(decode.ByField, "result", 0, "")
			m.opaque(r, t)
		}
		if m.Kind >= 3 && m.Kind <= 5 {
			r.Attachments()
		}
	}
	m.Taken = r.Offset()
	if m.Err == nil {
		m.Err = r.Err()
	}
}

// request reads the envelope of a request, as many arguments as it has parameter types, and its attachments.
func (m *Message) request(r decode.Reader, t *decode.Tree) {
	for _, name := range envelope {
		s, null := r.Text(name)
		m.Texts = append(m.Texts, s)
		m.Nulls = append(m.Nulls, null)
	}
	if r.Err() == nil {
		types, _ := decode.SplitDescriptor(m.Texts[4])
		t.Open(decode.List, decode.ByField, "args", 0, r.Offset())
		for i, typ := range types {
			if r.Value(decode.ByIndex, "", i, typ); m.opaque(r, t) {
				break
			}
		}
		t.Close()
	}
	r.Attachments()
}

// opaque goes on at the attachments where they can be found after a value that cannot be read; what lies before them
// is opaque, and the error stays.
func (m *Message) opaque(r decode.Reader, t *decode.Tree) bool {
	err := r.Err()
	if err == nil {
		return false
	}
	finder, ok := r.(decode.AttachmentFinder)
	if !ok || err.Cause != decode.Unsupported {
		return true
	}
	m.Err = err
	if at, ok := finder.FindAttachments(err.At); ok {
		t.Leaf(decode.Opaque, decode.Whole, "opaque", 0, err.At, at)
	}
	return true
}

// Response walks the body of a response with status 20, recording it.
func Response(f decode.Format, body []byte, short decode.Cause) *Message {
	m := &Message{Tree: decode.Tree{WithValues: true}}
	m.walk(decode.BodyResult, f.New(), body, short, &m.Tree)
	return m
}

// Value reads one value that fills the body and returns it as JSON.
func Value(tb testing.TB, f decode.Format, body []byte) string {
	tb.Helper()
	t := decode.Tree{WithValues: true}
	r := f.New()
	r.Reset(body, decode.Malformed, &t)
	r.Value(decode.ByField, "result", 0, "")
	if err := r.Err(); err != nil {
		require.NoError(tb, err)
	}
	require.Equal(tb, len(body), r.Offset(), "bytes taken")
	Balance(tb, &t, len(body))
	m := Message{Tree: t}
	return m.Value("result")
}

// Balance checks that the tree owns each of the first taken bytes once, and that it is well formed.
func Balance(tb testing.TB, t *decode.Tree, taken int) {
	tb.Helper()
	at := 0
	for _, p := range t.Parts(nil, 0) {
		if p.Off != at {
			tb.Fatalf("part %s starts at %d, the one before it ends at %d", p.Path, p.Off, at)
		}
		at += p.Bytes
	}
	if at != taken {
		tb.Fatalf("parts end at %d, %d bytes were taken", at, taken)
	}
	if t.Depth() != 0 {
		tb.Fatalf("%d containers left open", t.Depth())
	}
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if int(n.End) <= i || int(n.End) > len(t.Nodes) || n.Parent >= int32(i) || n.Parent >= 0 && n.End > t.Nodes[n.Parent].End {
			tb.Fatalf("node %d: end %d, parent %d of %d nodes", i, n.End, n.Parent, len(t.Nodes))
		}
		if n.Kind == decode.Ref && (n.Num < 0 || n.Num >= int64(len(t.Nodes))) {
			tb.Fatalf("node %d refers to node %d of %d", i, n.Num, len(t.Nodes))
		}
		if i < 64 {
			t.AppendJSON(nil, i) // must not fail; not for every node, whose children would be printed with each
		}
	}
}

// Check walks any bytes as a request and as a response, with and without a tree, and checks what must hold.
func Check(tb testing.TB, f decode.Format, body []byte) {
	tb.Helper()
	check(tb, f, body, "request", decode.BodyRequest)
	check(tb, f, body, "response", decode.BodyResult)
	skip(f.New(), body)
	counted(tb, f, body)
	printed(tb, f, body)
	skimmed(tb, f, body)
}

func check(tb testing.TB, f decode.Format, body []byte, what string, kind decode.BodyKind) {
	tb.Helper()
	full := Message{Tree: decode.Tree{WithValues: true}}
	full.walk(kind, f.New(), body, decode.Malformed, &full.Tree)
	if full.Taken > len(body) {
		tb.Fatalf("%s: %d bytes taken of %d", what, full.Taken, len(body))
	}
	if full.Err != nil && full.Err.At != full.Taken && full.Err.Cause != decode.Unsupported {
		tb.Fatalf("%s: the error is at %d, the reader at %d: %v", what, full.Err.At, full.Taken, full.Err)
	}
	Balance(tb, &full.Tree, full.Taken)
	var bare Message
	bare.walk(kind, f.New(), body, decode.Malformed, nil)
	if bare.Taken != full.Taken || Cause(bare.Err) != Cause(full.Err) {
		tb.Fatalf("%s: without a tree the walk stops at %d (%v), with one at %d (%v)", what, bare.Taken, bare.Err, full.Taken, full.Err)
	}
	small := Message{Tree: decode.Tree{MaxNodes: 4}}
	small.walk(kind, f.New(), body, decode.Cut, &small.Tree)
	Balance(tb, &small.Tree, small.Taken)
	if r, ok := f.New().(decode.AttachmentFinder); ok {
		found(tb, r.(decode.Reader), body)
	}
}

// found checks that attachments found from the end of the body are really there.
func found(tb testing.TB, r decode.Reader, body []byte) {
	tb.Helper()
	r.Reset(body, decode.Malformed, nil)
	at, ok := r.(decode.AttachmentFinder).FindAttachments(0)
	if !ok {
		return
	}
	r.Attachments()
	if r.Err() != nil || r.Offset() != len(body) {
		tb.Fatalf("attachments found at %d end at %d of %d: %v", at, r.Offset(), len(body), r.Err())
	}
}

// Cause returns the cause of an error, None if err is nil.
func Cause(err *decode.Error) decode.Cause {
	if err == nil {
		return decode.None
	}
	return err.Cause
}

func skip(r decode.Reader, body []byte) {
	r.Reset(body, decode.Malformed, nil)
	for range envelope {
		r.SkipText()
	}
}

// Row is a measured value or frame. Want is what follows the hex, where a file has it.
type Row struct {
	Source, Name string
	Header, Body []byte
	Want         string
}

// Values reads rows of testdata/values.tsv: source, serialization, value, size, hex. Rows with an error are left out.
func Values(tb testing.TB, file string) []Row { return rows(tb, file, 2, 0) }

// Frames reads rows of testdata/frames.tsv: source, step, direction, size, hex. The 16-byte header is cut off; Name is
// step and direction.
func Frames(tb testing.TB, file string) []Row { return rows(tb, file, 1, 16) }

func rows(tb testing.TB, file string, name, header int) []Row {
	tb.Helper()
	in, err := os.Open(file)
	require.NoError(tb, err)
	defer in.Close()
	var out []Row
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c := strings.Split(lines.Text(), "\t")
		if len(c) < 5 || c[0] == "source" || c[3] == "error" || strings.HasPrefix(c[0], "#") {
			continue
		}
		body, err := hex.DecodeString(c[4])
		require.NoError(tb, err)
		row := Row{Source: c[0], Name: c[name], Header: body[:header], Body: body[header:]}
		if len(c) > 5 {
			row.Want = c[5]
		}
		if header > 0 {
			row.Name += " " + c[2]
		}
		out = append(out, row)
	}
	require.NoError(tb, lines.Err())
	require.NotEmpty(tb, out)
	return out
}

// Named returns the body of the row of that name.
func Named(tb testing.TB, file, name string) []byte {
	tb.Helper()
	for _, row := range Frames(tb, file) {
		if row.Name == name {
			return row.Body
		}
	}
	tb.Fatalf("no row %s in %s", name, file)
	return nil
}

// Fuzz checks f on mutations of the rows of the given files.
func Fuzz(f *testing.F, format decode.Format, files ...string) {
	for _, file := range files {
		read := Values
		if strings.Contains(file, "frames") {
			read = Frames
		}
		for _, row := range read(f, file) {
			if len(row.Body) < 4096 {
				f.Add(row.Body)
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		bounded(t, len(body), func() { Check(t, format, body) })
	})
}

// Hostile is a body that must stop with a cause.
type Hostile struct {
	Name  string
	Body  []byte
	Cause decode.Cause
}

// Stops reads each body as one value and checks that it stops with its cause, and what must hold of every walk.
func Stops(t *testing.T, f decode.Format, bodies []Hostile) {
	for _, h := range bodies {
		t.Run(h.Name, func(t *testing.T) {
			for _, tree := range []*decode.Tree{nil, {WithValues: true}} {
				r := f.New()
				r.Reset(h.Body, decode.Malformed, tree)
				r.Value(decode.ByField, "result", 0, "")
				require.NotNil(t, r.Err())
				require.Equal(t, h.Cause.String(), r.Err().Cause.String(), "%v", r.Err())
				require.Equal(t, r.Offset(), r.Err().At)
				require.NotEmpty(t, r.Err().Expected)
				if tree != nil {
					Balance(t, tree, r.Offset())
				}
			}
			bounded(t, len(h.Body), func() { Check(t, f, h.Body) })
		})
	}
}

// Hex returns the bytes that the hex digits in parts stand for; spaces are for reading.
func Hex(parts ...string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(parts, ""), " ", ""))
	if err != nil {
		panic(err)
	}
	return b
}

// Bench reads a request body again and again: its envelope alone, and every value.
func Bench(b *testing.B, f decode.Format, request []byte) {
	walk := func(name string, t *decode.Tree, read func(r decode.Reader)) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(request)))
			b.ReportAllocs()
			r := f.New()
			for b.Loop() {
				t.Reset()
				r.Reset(request, decode.Malformed, t)
				read(r)
				if r.Err() != nil {
					b.Fatal(r.Err())
				}
			}
		})
	}
	texts := func(r decode.Reader) {
		for range envelope {
			r.SkipText()
		}
	}
	values := func(r decode.Reader) {
		var types string
		for _, name := range dubbo.EnvelopeTexts {
			types, _ = r.Text(name)
		}
		list, _ := decode.SplitDescriptor(types)
		for i, typ := range list {
			r.Value(decode.ByIndex, "", i, typ)
		}
		r.Attachments()
	}
	walk("envelope", nil, texts)
	walk("walk", nil, values)
	walk("parts", new(decode.Tree), values)
	walk("values", &decode.Tree{WithValues: true}, values)
}

// NoAllocs checks that the strings at the start of a request are skipped without allocation.
func NoAllocs(t *testing.T, f decode.Format, request []byte) {
	r := f.New()
	n := testing.AllocsPerRun(100, func() {
		r.Reset(request, decode.Malformed, nil)
		for range envelope {
			r.SkipText()
		}
	})
	require.Nil(t, r.Err())
	require.Zero(t, n, "Reset and SkipText of %s allocate, over the texts at the start of a request", f.Name)
}
