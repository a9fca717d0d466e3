package dubbo

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
)

// classyReader reads a made-up serialization: texts as a length and bytes, the kind of a result as a byte, a value as "s" and a text, as
// "o" and the fields of p.User, which are texts, or as "x" and nobody knows what; attachments as "m", their number and texts.
type classyReader struct {
	decode.Recorder
	fields    [2][]string // of p.User, by side
	side      decode.Side
	distrust  *decode.Error
	varied    *decode.Variation
	used      bool
	stoppedAt string
	resets    int
}

func (r *classyReader) Reset(body []byte, short decode.Cause, t *decode.Tree) {
	r.Recorder.Reset(body, short, t)
	r.used, r.stoppedAt = false, ""
	r.resets++
}

func (r *classyReader) text(l decode.Label, name string, index int) string {
	s := decode.UTF8(r.Bytes(int(r.Byte("a length")), "a text"))
	if n := r.Leaf(decode.String, l, name, index); n != nil {
		n.Text = s
	}
	return s
}

func (r *classyReader) Text(name string) (string, bool) {
	return r.text(decode.ByField, name, 0), false
}

func (r *classyReader) SkipText() { r.Skip(int(r.Byte("a length")), "a text"); r.Pass() }

func (r *classyReader) ResultKind() byte {
	k := r.Byte("a kind")
	r.Leaf(decode.Int, decode.ByField, "flag", 0)
	return k
}

func (r *classyReader) Value(l decode.Label, name string, index int, _ string) {
	defer r.Settle(r.Tree.Depth())
	switch b := r.Byte("a value"); {
	case !r.OK():
	case b == 's':
		r.text(l, name, index)
	case b == 'o':
		node := r.Open(decode.Object, l, name, index)
		if n := r.Tree.Node(node); n != nil {
			n.Class = "p.User"
		}
		r.Role("type")
		if r.distrust != nil {
			own := *r.distrust
			r.Fail(own.Cause, own.Expected, own.Found)
			return
		}
		r.used = true
		r.object()
		r.Close()
	default:
		r.Fail(decode.Unsupported, "a class", "")
	}
}

func (r *classyReader) object() {
	v := r.varied
	for i, name := range append(r.fields[r.side], "") {
		if v != nil && v.Index == i && v.Type != "" {
			r.text(decode.ByField, "?", 0)
		}
		if name != "" && (v == nil || v.Index != i || v.Type != "") {
			if r.text(decode.ByField, name, 0); !r.OK() && r.stoppedAt == "" {
				r.stoppedAt = name
			}
		}
	}
}

func (r *classyReader) Throwable() { r.Value(decode.ByField, "exception", 0, "") }

func (r *classyReader) Attachments() {
	defer r.Settle(r.Tree.Depth())
	if b := r.Byte("attachments"); r.OK() && b != 'm' {
		r.FailAt(r.Off-1, decode.Malformed, "attachments", decode.HexByte(b))
		return
	}
	n := int(r.Byte("a number"))
	r.Open(decode.Map, decode.ByField, "attachments", 0)
	for i := 0; i < n && r.OK(); i++ {
		key := r.text(decode.ByKey, "", i)
		r.text(decode.ByEntry, key, i)
	}
	r.Close()
}

func (r *classyReader) FindAttachments(from int) (int, bool) {
	at := strings.LastIndexByte(string(r.Buf), 'm')
	if at >= from {
		r.Resume(at)
	}
	return at, at >= from
}

func (r *classyReader) WrittenBy(s decode.Side)    { r.side = s }
func (r *classyReader) Misfits(*decode.Error) bool { return r.used }
func (r *classyReader) Distrust(err *decode.Error) { r.distrust = err }
func (r *classyReader) Used() []decode.UsedClass {
	return []decode.UsedClass{{Name: "p.User", Fields: r.fields[r.side]}}
}
func (r *classyReader) Stopped() (a, b string) { return "p.User", r.stoppedAt }
func (r *classyReader) Vary(v *decode.Variation) bool {
	r.varied = v
	return v == nil || !v.Replaces && (v.Type == "" || v.Type == "Ljava/lang/String;")
}

// texts returns texts as classyReader reads them.
func texts(all ...string) []byte {
	var b []byte
	for _, s := range all {
		b = append(append(b, byte(len(s))), s...)
	}
	return b
}

func classyRequest(arguments ...string) []byte {
	b := texts("2.0.2", "p.Service", "1.0.0", "say", strings.Repeat("Lp/User;", len(arguments)))
	for _, a := range arguments {
		b = append(b, a...)
	}
	return append(append(b, 'm', 1), texts("path", "p.Service")...)
}

func classyResult(value string) []byte {
	return append(append([]byte{4}, value...), append([]byte{'m', 1}, texts("dubbo", "2.0.2")...)...)
}

func object(fields ...string) string { return "o" + string(texts(fields...)) }

// TestMisfits: bodies whose objects do not fit the classes of their writer, and those that do.
func TestMisfits(t *testing.T) {
	short, long := []string{"id", "name"}, []string{"id", "name", "note"}
	const opaque = `{"@class":"p.User","#opaque":{"@opaque":`
	for _, c := range []struct {
		name     string
		fields   [2][]string // of consumer and provider
		request  bool
		callback bool
		body     []byte
		cut      int // bytes that the capture lacks
		values   string
		cause    string // of the misfit, - for none
		class    string // of the place, with the field
	}{
		{"fits", [2][]string{short, short}, true, false, classyRequest(object("a", "b")), 0, `[{"@class":"p.User","id":"a","name":"b"}]`, "-", ""},
		{"a field was added", [2][]string{short, short}, true, false, classyRequest(object("a", "b", "c")), 0, "[" + opaque, "the writer's p.User has another field (a String) after name, or another field (a String) after id, or another field (a String) before id", "p.User"},
		{"a field is missing", [2][]string{long, long}, false, false, classyResult(object("a", "b")), 0, opaque, "the writer's p.User has no field id, or no field name, or no field note", "p.User note"},
		{"that of the other side", [2][]string{long, short}, false, false, classyResult(object("a", "b", "c")), 0, opaque, "the body fits the classes of the consumer", "p.User"},
		{"each side", [2][]string{long, short}, false, false, classyResult(object("a", "b")), 0, `{"@class":"p.User","id":"a","name":"b"}`, "-", ""},
		{"a callback", [2][]string{long, short}, true, true, classyRequest(object("a", "b")), 0, `[{"@class":"p.User","id":"a","name":"b"}]`, "-", ""},
		{"the answer to a callback", [2][]string{long, short}, false, true, classyResult(object("a", "b", "c")), 0, `{"@class":"p.User","id":"a","name":"b","note":"c"}`, "-", ""},
		{"one of two arguments", [2][]string{short, short}, true, false, classyRequest("s\x01t", object("a", "b", "c")), 0, `["t",` + opaque, "", "p.User"},
		{"an exception", [2][]string{short, short}, false, false, append([]byte{3}, classyResult(object("a", "b", "c"))[1:]...), 0, "", "", "p.User"},
		{"cut among the fields", [2][]string{short, short}, false, false, classyResult(object("a", "b")), 15, `{"@class":"p.User","id":"a","#opaque":`, "-", ""},
		{"cut after it", [2][]string{short, short}, false, false, classyResult(object("a", "b")), 5, `{"@class":"p.User","id":"a","name":"b"}`, "-", ""},
		{"wrong before the cut", [2][]string{short, short}, false, false, classyResult(object("a", "b", "c")), 5, opaque, "", "p.User"},
		{"not a class of the application", [2][]string{short, short}, false, false, classyResult("x123"), 0, `{"@opaque":4}`, "-", ""},
	} {
		format := func(classes bool) decode.Format {
			return decode.Format{ID: 14, Name: "classy", Depth: decode.DepthEnvelope, New: func() decode.Reader {
				r := &classyReader{fields: c.fields}
				if !classes {
					r.distrust = &decode.Error{Cause: decode.Unsupported}
				}
				return r
			}}
		}
		f := Frame{Header: Header{Flags: 14, Status: StatusOK, BodyLen: len(c.body)}, Body: c.body[:len(c.body)-c.cut], Captured: len(c.body) - c.cut, MissingAt: len(c.body) - c.cut}
		if c.request {
			f.Flags, f.Status = 0xc0|14, 0
		}
		if c.cut > 0 {
			f.Short = decode.Cut
		}
		with, without := NewDecoder([]decode.Format{format(true)}), NewDecoder([]decode.Format{format(false)})
		for range 2 { // nothing is left of the first body
			m := with.Decode(&f, Values, &Dialects{peer: peer{callback: c.callback}})
			var values []byte
			if c.request {
				values = m.AppendArguments(nil)
			} else if !m.Exception {
				values = m.AppendResult(nil)
			}
			assert.True(t, strings.HasPrefix(string(values), c.values), "%s: %s", c.name, values)
			if c.cause == "-" {
				assert.True(t, m.Err == nil || m.Err.Misfit == nil, c.name)
			} else {
				require.NotNil(t, m.Err, c.name)
				require.NotNil(t, m.Err.Misfit, c.name)
				assert.Equal(t, decode.Unsupported, m.Err.Cause, c.name)
				assert.Equal(t, c.class, strings.TrimSpace(m.Err.Misfit.Class+" "+m.Err.Misfit.Field), c.name)
				if c.cause != "" {
					assert.Equal(t, c.cause, m.Err.Misfit.Text(), c.name)
				}
			}
			n := without.Decode(&f, Values, nil)
			assert.Equal(t, n.Names == nil, m.Names == nil, c.name)
			if n.Names != nil {
				assert.Equal(t, n.Names.Signature(), m.Names.Signature(), c.name)
			}
			assert.Equal(t, n.ResultKind, m.ResultKind, c.name)
			assert.Equal(t, n.Serialization, m.Serialization, c.name)
			assert.Equal(t, n.AppendAttachments(nil, false), m.AppendAttachments(nil, false), c.name)
			parts := with.Decode(&f, Parts, &Dialects{peer: peer{callback: c.callback}}).Parts
			assert.Equal(t, with.Decode(&f, Values, &Dialects{peer: peer{callback: c.callback}}).Parts, parts, c.name)
			assert.Equal(t, without.Decode(&f, Parts, nil).Parts[decode.ClassAttachments], parts[decode.ClassAttachments], c.name)
		}
	}
}
