package truth

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The log has protocol buffers messages by their descriptors: {"@class", "@fields": [{"number", "name", "type", "value"}]}.
// The wire has no types, so values of the binary form are compared as the bytes that the logged ones make: a guess may be
// wrong (bytes that look like a text), what was read may not.

// messageValues compares arguments, results and exceptions of protobuf and protobuf-json with the log, and counts how often
// the rules for what the wire does not say came to what the schema says. It reports whether the capture has messages.
func messageValues(t *testing.T, p *provenance, r *run, pairs map[int64]pair) bool {
	if !slices.Contains(p.Serializations, "protobuf") && !slices.Contains(p.Serializations, "protobuf-json") {
		return false
	}
	m := messages{T: t, guesses: map[string][2]int{}}
	for i := range r.calls {
		m.call(&r.calls[i], pairs)
	}
	require.Positive(t, m.compared)
	right, all := 0, 0
	for _, kind := range slices.Sorted(maps.Keys(m.guesses)) {
		n := m.guesses[kind]
		right, all = right+n[0], all+n[0]+n[1]
		t.Logf("%s: %d of %d as the schema says", kind, n[0], n[0]+n[1])
	}
	if all > 0 {
		assert.Greater(t, float64(right)/float64(all), 0.99, "guesses")
	}
	return true
}

// messages compares the messages of a capture with the log.
type messages struct {
	*testing.T
	compared int
	guesses  map[string][2]int // by the type in the schema: right, wrong
}

// holdsMessages reports whether the frame's values are messages that were captured whole.
func holdsMessages(f *frame) bool {
	return f.Complete && strings.HasPrefix(f.Serialization, "protobuf")
}

func (m *messages) call(c *callRecord, pairs map[int64]pair) {
	if q, ok := pairs[c.RequestFrame]; ok && holdsMessages(q.ours) {
		if assert.Len(m, c.Arguments, len(q.sent.Arguments), "frame %d", c.RequestFrame) {
			for i, want := range q.sent.Arguments {
				m.value(fmt.Sprintf("frame %d %s args[%d]", c.RequestFrame, c.Method, i), q.ours.Serialization, c.Arguments[i], want, q.ours.ParameterTypes[i])
			}
		}
	}
	q, ok := pairs[c.ResponseFrame]
	if !ok || !holdsMessages(q.ours) || q.sent.Status != 20 {
		return
	}
	what := fmt.Sprintf("frame %d answer to %s", c.ResponseFrame, c.Method)
	switch e := q.sent.Exception; {
	case q.sent.ResultKind == "value":
		m.value(what, q.ours.Serialization, c.Result, q.sent.Result, "")
	case e != nil && assert.NotNil(m, c.Exception, what):
		assert.Equal(m, strings.ReplaceAll(*e.Class, "$", "."), *c.Exception.Class, what) // the canonical name is written
		assert.Equal(m, e.Message, c.Exception.Message, what)
		m.compared++
	}
}

func (m *messages) value(what, serialization string, got, want any, declared string) {
	message, ok := want.(map[string]any)
	if !ok || message["@fields"] == nil {
		assert.Fail(m, "the log has no message", "%s: %s", what, short(want))
		return
	}
	m.compared++
	diff := ""
	if serialization == "protobuf-json" {
		diff = m.json(got, message)
	} else if inner, ok := unwrapped(message, declared); ok {
		diff = m.scalar(got, inner)
	} else {
		diff = m.message(got, message)
	}
	if diff != "" { // short takes long
		assert.Fail(m, diff, "%s\n ours  %s\n truth %s", what, short(got), short(want))
	}
}

// unwrapped returns the field of a wrapper that is declared as one.
func unwrapped(message map[string]any, declared string) (field map[string]any, ok bool) {
	name, ok := strings.CutPrefix(declared, "com.google.protobuf.")
	typ, isValue := strings.CutSuffix(name, "Value")
	if !ok || !isValue || declared != message["@class"] {
		return nil, false
	}
	if fields := message["@fields"].([]any); len(fields) > 0 {
		return fields[0].(map[string]any), true
	}
	zero := map[string]any{"String": "", "Bytes": map[string]any{"@bytes": ""}, "Bool": false}[typ]
	if zero == nil {
		zero = json.Number("0")
	}
	return map[string]any{"type": strings.ToLower(typ), "value": zero}, true
}

// guess counts how one was made.
func (m *messages) guess(kind string, right bool) {
	n := m.guesses[kind]
	if right {
		n[0]++
	} else {
		n[1]++
	}
	m.guesses[kind] = n
}

// message compares an object with members "#1", "#2".
func (m *messages) message(got any, want map[string]any) string {
	fields := want["@fields"].([]any)
	object, ok := got.(map[string]any)
	if !ok {
		m.guess("message", false)
		if got == "" && len(fields) == 0 && want["@unknown"] == nil {
			return ""
		}
		if b, ok := rawBytes(got); ok && len(b) > 0 {
			return "" // a text; its length was read
		}
		return short(got) + " instead of a message"
	}
	m.guess("message", true)
	seen := map[string]bool{}
	for _, f := range fields {
		field := f.(map[string]any)
		key := "#" + string(field["number"].(json.Number))
		seen[key] = true
		g, ok := object[key]
		if !ok && field["value"] == json.Number("-0.0") {
			continue // is set, and taken for 0 by the writer
		}
		if !ok {
			return key + " is missing"
		}
		if diff := m.field(g, field); diff != "" {
			return key + ": " + diff
		}
	}
	for key := range object {
		if !seen[key] && want["@unknown"] == nil {
			return key + " is too much"
		}
	}
	return ""
}

func (m *messages) field(got any, field map[string]any) string {
	if field["map"] == true {
		return m.mapping(got, field["value"].([]any))
	}
	if field["repeated"] != true {
		return m.scalar(got, field)
	}
	values := field["value"].([]any)
	if field["packed"] == true {
		var packed []byte
		for _, v := range values {
			packed = append(packed, wire(field["type"].(string), v)...)
		}
		_, right := got.(map[string]any)
		if b, ok := rawBytes(got); ok {
			m.guess("packed numbers", right)
			return sameBytes(b, packed)
		}
		m.guess("packed numbers", false)
		return "" // it looks like a message
	}
	list, ok := got.([]any)
	if !ok || len(values) == 1 {
		list = []any{got}
	}
	if len(list) != len(values) {
		return fmt.Sprintf("%d elements instead of %d", len(list), len(values))
	}
	for i, v := range values {
		if diff := m.scalar(list[i], map[string]any{"type": field["type"], "value": v}); diff != "" {
			return fmt.Sprintf("[%d]: %s", i, diff)
		}
	}
	return ""
}

// mapping compares the entries of a map, messages { 1: key, 2: value } whose types the log does not have.
func (m *messages) mapping(got any, entries []any) string {
	list, ok := got.([]any)
	if !ok {
		list = []any{got}
	}
	if len(list) != len(entries) {
		return fmt.Sprintf("%d entries instead of %d", len(list), len(entries))
	}
	for _, e := range entries {
		pair := e.([]any)
		found := slices.ContainsFunc(list, func(g any) bool {
			o, ok := g.(map[string]any)
			return ok && m.loosely(o["#1"], pair[0]) && m.loosely(o["#2"], pair[1])
		})
		if !found {
			return "no entry " + short(e)
		}
	}
	return ""
}

// loosely compares a value with one of any type that the log's value can have.
func (m *messages) loosely(got, want any) bool {
	types := []string{"int64", "sint64", "fixed64", "fixed32", "float", "double", "string", "bytes", "bool", "enum", "message"}
	return slices.ContainsFunc(types, func(typ string) bool {
		trial := messages{T: m.T, guesses: map[string][2]int{}}
		defer func() { _ = recover() }() // a type that the value does not have
		return trial.scalar(got, map[string]any{"type": typ, "value": want}) == ""
	})
}

func (m *messages) scalar(got any, field map[string]any) string {
	typ, want := field["type"].(string), field["value"]
	switch typ {
	case "message":
		return m.message(got, want.(map[string]any))
	case "string":
		b, ok := rawBytes(got)
		_, text := got.(string)
		m.guess(typ, text)
		if !ok {
			return "" // it looks like a message
		}
		return sameBytes(b, []byte(want.(string)))
	case "bytes":
		b, ok := rawBytes(got)
		_, object := got.(map[string]any)
		m.guess(typ, ok && object || len(b) == 0)
		if !ok {
			return "" // it looks like a message
		}
		return sameBytes(b, wire(typ, want))
	case "float", "double", "fixed32", "fixed64", "sfixed32", "sfixed64":
		bits := wire(typ, want)
		isFloat := typ == "float" || typ == "double"
		for _, as := range []bool{isFloat, !isFloat} {
			if bytes.Equal(fixed(got, len(bits), as), bits) {
				m.guess(typ, as == isFloat)
				return ""
			}
		}
		return fmt.Sprintf("%s instead of %s %s", short(got), typ, short(want))
	case "bool":
		if got == want {
			return ""
		}
	}
	v, _ := binary.Uvarint(wire(typ, want))
	if n, ok := got.(json.Number); ok && string(n) == strconv.FormatInt(int64(v), 10) {
		return ""
	}
	return fmt.Sprintf("%s instead of %s %s", short(got), typ, short(want))
}
