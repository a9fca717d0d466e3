package triple

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/formats/formattest"
	"dubbo-wire/internal/rpc"
)

// TestHostile: bytes that a peer made up are read in linear time and bounded memory.
func TestHostile(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find")
	start := time.Now()
	for _, body := range []string{
		"\x0a\x08hessian4" + strings.Repeat("\x12\x00", 1<<16),
		"\x0a\x08hessian4" + strings.Repeat("\x12\x01N", 255) + strings.Repeat("\x1a\x03int", 255),
		"\x0a\x08hessian4" + strings.Repeat("\x1a\x00", 1<<16),
		strings.Repeat("\x0a\x00", 1<<16),
		strings.Repeat("\x0b", 1<<16),
		"\x0a\x08hessian4\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"\x0a\x08hessian4\x12\xff\xff\xff\xff\x0f",
		"\x0a\xff\xff\xff\xff\x0f",
	} {
		m := message(rpc.Request, h, body)
		for _, detail := range []rpc.Detail{rpc.Envelope, rpc.Parts, rpc.Values} {
			d.Decode(m, operation(d, h), detail)
		}
		assert.Equal(t, len(body), sum(m))
	}
	assert.Less(t, time.Since(start), time.Minute)
	for i := range 1 << 15 { // every request calls something else
		path := strings.Repeat("x", 200) + strconv.Itoa(i)
		h := request("/" + path + "/find")
		m := message(rpc.Request, h, "\x0a\x08hessian4\x12\x01N\x1a\x0aorg."+path[len(path)-6:])
		d.Decode(m, operation(d, h), rpc.Values)
	}
	assert.LessOrEqual(t, d.operations.bytes, maxOperationBytes)
	assert.LessOrEqual(t, len(d.names), maxNames)
}

// check decodes a message in every way and checks what must hold.
func check(tb testing.TB, d *Decoder, kind rpc.Kind, h []rpc.Header, body []byte, missing int, encoding string) {
	tb.Helper()
	op := operation(d, h)
	make := func() *rpc.Message {
		m := &rpc.Message{Headers: h, Body: body}
		m.Kind, m.Ends, m.Complete, m.Encoding = kind, true, missing == 0, encoding
		m.BodyLen, m.Captured, m.MissingAt = len(body)+missing, len(body), len(body)
		if missing > 0 {
			m.Short = decode.Cut
		}
		return m
	}
	m := make()
	if kind == rpc.Response {
		outcome(d, m)
	}
	d.Decode(m, op, rpc.Values)
	want := m.BodyLen
	if m.Plain != nil {
		want = len(m.Plain)
	}
	at := 0
	if m.Tree != nil {
		for _, p := range m.Tree.Parts(nil, 0) {
			if p.Off != at {
				tb.Fatalf("part %s starts at %d instead of %d", p.Path, p.Off, at)
			}
			at += p.Bytes
		}
		if at != want {
			tb.Fatalf("parts have %d of %d bytes", at, want)
		}
		m.AppendArguments(nil)
		m.AppendResult(nil)
	}
	if m.Err == nil && m.Tree != nil && m.Decoded != "full" {
		tb.Fatalf("decoded %s without an error", m.Decoded)
	}
	printed(tb, d, m, op, func() *rpc.Message {
		m := make()
		if kind == rpc.Response {
			outcome(d, m)
		}
		return m
	})
	own, kindOfResult, serialization, called := m.Parts, m.ResultKind, m.Serialization, m.Operation
	m = make()
	if kind == rpc.Response {
		outcome(d, m)
	}
	d.Decode(m, op, rpc.Parts)
	if m.Parts != own || m.ResultKind != kindOfResult || m.Serialization != serialization || called != nil && (m.Operation.Method != called.Method || m.Operation.Service != called.Service) {
		tb.Fatalf("with parts %v %d %s of %v, with values %v %d %s of %v", m.Parts, m.ResultKind, m.Serialization, m.Operation, own, kindOfResult, serialization, called)
	}
	if encoding != "" {
		return
	}
	for n := 0; n <= len(body); n += 1 + n/4 {
		m = make()
		if d.Enough(HeadsOf(m.Headers), m, op, body[:n]) {
			whole := make()
			d.Decode(whole, op, rpc.Envelope)
			serialization, result, called, invoked := whole.Serialization, whole.ResultKind, whole.Operation, whole.GenericMethod
			m.Body = body[:n:n]
			d.Decode(m, op, rpc.Envelope)
			if m.Serialization != serialization || m.ResultKind != result || called != nil && m.Operation.Method != called.Method || m.GenericMethod != invoked {
				tb.Fatalf("the first %d bytes are %s %d of %v %q, all of them %s %d of %v %q", n, m.Serialization, m.ResultKind, m.Operation, m.GenericMethod, serialization, result, called, invoked)
			}
		}
	}
}

// printed checks that what a message prints without a tree is what its tree prints: that of m, which was decoded to values. It returns how often the
// message did without a tree.
func printed(tb testing.TB, d *Decoder, m *rpc.Message, op *rpc.Operation, again func() *rpc.Message) (without int) {
	tb.Helper()
	text := func(m *rpc.Message) string {
		all := m.AppendAttachments(nil, false)
		if m.Kind == rpc.Request {
			return string(m.AppendArguments(all))
		}
		return string(m.AppendResult(all))
	}
	var parts []byte
	if m.Tree != nil {
		m.Tree.EachPart(0, func(path []byte, _ decode.Class, _, bytes int) {
			parts = decode.AppendPart(append(parts, ','), path, bytes)
		})
	}
	want, values := *m, text(m)
	for _, printing := range []decode.Printing{decode.PrintValues, decode.PrintParts} {
		d.Printed = &decode.Printed{Printing: printing}
		got := again()
		d.Decode(got, op, rpc.Values)
		d.Printed = nil
		assert.Equal(tb, want.Parts, got.Parts)
		assert.Equal(tb, want.Decoded, got.Decoded)
		assert.Equal(tb, want.Err, got.Err)
		assert.Equal(tb, want.Operation, got.Operation)
		assert.Equal(tb, want.ResultKind, got.ResultKind)
		switch {
		case got.Printed == nil:
			continue
		case printing == decode.PrintParts:
			assert.Equal(tb, string(parts), string(got.Printed.Parts))
		default:
			assert.Equal(tb, values, text(got))
		}
		without++
	}
	return without
}

// TestPrinted: nearly all values of hessian2 print without a tree.
func TestPrinted(t *testing.T) {
	d := NewDecoder(formats.All())
	h := request("/org.acme.Users/find")
	rows, without := 0, 0
	files, err := filepath.Glob("../formats/hessian2/testdata/values*.tsv")
	require.NoError(t, err)
	for _, file := range files {
		for _, row := range formattest.Values(t, file) {
			again := func() *rpc.Message { return message(rpc.Request, h, string(wrap("hessian4", []byte("N"), row.Body))) }
			m := again()
			op := operation(d, h)
			d.Decode(m, op, rpc.Values)
			without += printed(t, d, m, op, again)
			rows++
		}
	}
	t.Log(without, "of twice", rows)
	assert.Greater(t, without, rows)

	blob := append(bytes.Repeat(append([]byte("A\xff\xff"), make([]byte, 0xffff)...), 10), "B\x00\x00"...)
	for n, want := range []int{1: 2, 2: 0} { // the values of several large arguments may be too many for a tree
		if n > 0 {
			again := func() *rpc.Message {
				return message(rpc.Request, h, string(wrap("hessian4", slices.Repeat([][]byte{blob}, n)...)))
			}
			m := again()
			op := operation(d, h)
			d.Decode(m, op, rpc.Values)
			assert.Equal(t, want, printed(t, d, m, op, again), "%d arguments", n)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		bob, "\x0a\x08hessian4\x12\x04\x03bob\x1a\x10java.lang.String", "\x0a\x08hessian4\x12\x01N\x1a\x04void", "\x0a\x09fastjson2\x12\x01\xaf\x1a\x03int",
		"\x0a\x04java\x12\x05hello\x1a\x03int", "\x0a\x05world\x12\x05hello\x1a\x05a.b.C", "\x0a\x03bob\x10\x05", `{"a":[1,2]}`, "",
		"\x0a\x04kryo\x12\x02\x03\x80\x1a\x03int", "\x0a\x04gson\x12\x02{}\x1a\x05a.b.C",
	} {
		for i := range 2 {
			f.Add([]byte(body), uint8(i), uint8(0), "application/grpc+proto", "", "0")
		}
		f.Add([]byte(body), uint8(1), uint8(3), "application/json", "gzip", "3")
	}
	f.Add([]byte("data:{\"a\":1}\n\ndata:2\n\n"), uint8(1), uint8(1), "text/event-stream", "", "0")
	f.Add([]byte("[1,[2]]"), uint8(0), uint8(0), "application/json", "", "0")
	for _, body := range bodyCalls {
		for i := range 2 {
			f.Add([]byte(body), uint8(i), uint8(0), "x-application/hessian", "", "0")
			f.Add([]byte(body), uint8(i), uint8(2), "application/octet-stream", "", "0")
			f.Add([]byte(body), uint8(i), uint8(0), "application/json-rpc", "", "0")
			f.Add([]byte(body), uint8(i), uint8(3), "application/json-rpc", "", "3")
		}
	}
	files, err := filepath.Glob("../formats/hessian2/testdata/values*.tsv")
	require.NoError(f, err)
	for _, file := range files {
		for i, row := range formattest.Values(f, file) {
			f.Add(wrap("hessian4", row.Body), uint8(i), uint8(0), "application/grpc+proto", "", "0")
		}
	}
	d := NewDecoder(formats.All())
	f.Fuzz(func(t *testing.T, body []byte, kind, missing uint8, contentType, encoding, code string) {
		h := headers(":method", "POST", ":path", "/a.B/c", "content-type", contentType, "tri-exception-code", code, "tri-header-convert", code, "grpc-status", code, "grpc-status-details-bin", code)
		check(t, d, rpc.Kind(kind&1), h, body, int(missing), encoding)
	})
}

// FuzzEvents: server-sent events in any form, whole and cut.
func FuzzEvents(f *testing.F) {
	for _, body := range []string{
		events, "data:1\n\ndata:2", "data: [1,2] \r\n\r\n: note\n", "data:[DONE]\n\n", "event: x\nid: 5\nretry: 10\ndata\ndata:\n\n", "data:{\"a\":\ndata:1}\n\n", "\n\n\n", "",
	} {
		f.Add([]byte(body), uint8(0))
		f.Add([]byte(body), uint8(5))
	}
	d := NewDecoder(formats.All())
	h := headers(":status", "200", "content-type", "text/event-stream")
	f.Fuzz(func(t *testing.T, body []byte, missing uint8) {
		for _, kind := range []rpc.Kind{rpc.Request, rpc.Response} {
			check(t, d, kind, h, body, int(missing), "")
		}
	})
}

const events = "data:{\"a\":1,\"b\":[true,null,\"text\"]}\n\ndata:2\n\ndata:{\"name\":\"bob\",\"tags\":[\"x\",\"y\"]}\n\n"

func BenchmarkEvents(b *testing.B) {
	for _, row := range []struct {
		name   string
		detail rpc.Detail
	}{{"parts", rpc.Parts}, {"values", rpc.Values}} {
		b.Run(row.name, func(b *testing.B) {
			d := NewDecoder(formats.All())
			m := message(rpc.Response, headers(":status", "200", "content-type", "text/event-stream"), events)
			b.SetBytes(int64(len(events)))
			b.ReportAllocs()
			for b.Loop() {
				d.Decode(m, nil, row.detail)
			}
		})
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, row := range []struct {
		name   string
		detail rpc.Detail
	}{{"envelope", rpc.Envelope}, {"parts", rpc.Parts}, {"values", rpc.Values}} {
		b.Run(row.name, func(b *testing.B) {
			d := NewDecoder(formats.All())
			h := request("/org.acme.Users/find", "tri-service-version", "1.2", "trace-id", "5")
			m := message(rpc.Request, h, bob)
			b.SetBytes(int64(len(bob)))
			b.ReportAllocs()
			for b.Loop() {
				m.Operation = nil
				d.Decode(m, operation(d, h), row.detail)
			}
		})
	}
}
