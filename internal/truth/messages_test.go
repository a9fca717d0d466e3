package truth

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
)

// The log has protocol buffers messages by their descriptors: {"@class", "@fields": [{"number", "name", "type", "value"}]}.
// The wire has no types, so values of the binary form are compared as the bytes that the logged ones make: a guess may be
// wrong (bytes that look like a text), what was read may not.

// TestMessages compares arguments, results and exceptions of protobuf and protobuf-json with the log, and counts how often
// the rules for what the wire does not say came to what the schema says.
func TestMessages(t *testing.T) {
	count := 0
	for _, p := range allCaptures(t) {
		binary := slices.Contains(p.Serializations, "protobuf")
		if !binary && !slices.Contains(p.Serializations, "protobuf-json") {
			continue
		}
		count++
		t.Run(p.Name, func(t *testing.T) {
			sent, received, _, _ := readTruth(t, p.Truth)
			r := analyze(t, p.File)
			pairs := match(t, p, r, sent, received)
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
				assert.Greater(t, float64(right)/float64(all), 0.95, "guesses")
			}
		})
	}
	require.Positive(t, count)
}

// messages compares the messages of a capture with the log.
type messages struct {
	*testing.T
	compared int
	guesses  map[string][2]int // by the type in the schema: right, wrong
}

// What differs from the log is found.
func TestMessagesDiffer(t *testing.T) {
	const logged = `{"@class": "a.B", "@fields": [{"number": 1, "type": "int32", "value": 5, "name": "i"}, {"number": 2, "type": "string", "value": "x", "name": "s"},
		{"number": 3, "type": "sint32", "repeated": true, "packed": true, "value": [-1, 1], "name": "p"}, {"number": 4, "type": "double", "value": 1.5, "name": "d"},
		{"number": 5, "type": "message", "repeated": true, "packed": false, "value": [{"@class": "a.C", "@fields": []}, {"@class": "a.C", "@fields": []}], "name": "m"},
		{"number": 6, "type": "message", "map": true, "value": [["k", {"@bytes": "AQ=="}]], "name": "b"}]}`
	for got, ok := range map[string]bool{
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:                 true,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":4609434218613702656,"#5":[{},{}],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`: true,
		`{"#1":6,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:                 false,
		`{"#1":5,"#2":"y","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:                 false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQE="},"#4":1.5,"#5":["",""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:                 false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.25,"#5":["",""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:                false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":[""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:                    false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",{"#1":1}],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}}}`:           false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",""],"#6":{"#1":"l","#2":{"@bytes":"AQ=="}}}`:                 false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",""]}`:                                                        false,
		`{"#1":5,"#2":"x","#3":{"@bytes":"AQI="},"#4":1.5,"#5":["",""],"#6":{"#1":"k","#2":{"@bytes":"AQ=="}},"#7":1}`:          false,
		`{"@opaque":5}`: false,
	} {
		m := messages{T: t, guesses: map[string][2]int{}}
		diff := m.message(parsed(t, got), parsed(t, logged).(map[string]any))
		assert.Equal(t, ok, diff == "", "%s: %s", got, diff)
	}
	const text = `{"i":5,"s":"x","p":[-1,1],"d":1.5,"m":[{},{}],"b":{"k":"AQ=="}}`
	m := messages{T: t}
	assert.Empty(t, m.json(parsed(t, text), parsed(t, logged).(map[string]any)))
	for old, other := range map[string]string{`"i":5`: `"i":4`, `"x"`: `"y"`, `[-1,1]`: `[-1]`, `-1,`: `1,`, `1.5`: `2.5`, `{},{}`: `{},{"a":1}`, `"d"`: `"e"`, `"i":5,`: ``, `"b":{"k":"AQ=="}`: `"b":{}`} {
		assert.NotEmpty(t, m.json(parsed(t, strings.Replace(text, old, other, 1)), parsed(t, logged).(map[string]any)), other)
	}
}

func parsed(t *testing.T, text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	require.NoError(t, d.Decode(&v))
	return v
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
	assert.Empty(m, diff, "%s\n ours  %s\n truth %s", what, short(got), short(want))
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

func sameBytes(got, want []byte) string {
	if bytes.Equal(got, want) {
		return ""
	}
	return fmt.Sprintf("%x instead of %x", got, want)
}

// rawBytes returns what stood behind a length, of a text or bytes.
func rawBytes(got any) ([]byte, bool) {
	if s, ok := got.(string); ok {
		return []byte(s), true
	}
	if o, ok := got.(map[string]any); ok && len(o) == 1 {
		if s, ok := o["@bytes"].(string); ok {
			b, err := base64.StdEncoding.DecodeString(s)
			return b, err == nil
		}
	}
	return nil, false
}

// fixed returns the four or eight bytes of a number that was printed as floating point or as an integer.
func fixed(got any, size int, floating bool) []byte {
	var bits uint64
	if o, ok := got.(map[string]any); ok {
		f, _ := strconv.ParseFloat(fmt.Sprint(o["@double"]), 64)
		bits = math.Float64bits(f)
		if size == 4 {
			bits = uint64(math.Float32bits(float32(f)))
		}
		if math.IsNaN(f) {
			bits = map[int]uint64{4: 0x7fc00000, 8: 0x7ff8000000000000}[size]
		}
	} else if n, ok := got.(json.Number); !ok {
		return nil
	} else if f, err := n.Float64(); floating {
		if err != nil {
			return nil
		}
		bits = math.Float64bits(f)
		if size == 4 {
			bits = uint64(math.Float32bits(float32(f)))
		}
	} else if i, err := n.Int64(); err == nil {
		bits = uint64(i)
	} else {
		return nil
	}
	return binary.LittleEndian.AppendUint64(nil, bits)[:size]
}

// wire returns the bytes of a logged value behind its tag, or behind its length.
func wire(typ string, v any) []byte {
	var number json.Number
	switch v := v.(type) {
	case json.Number:
		number = v
	case map[string]any:
		if s, ok := v["@bytes"].(string); ok {
			b, err := base64.StdEncoding.DecodeString(s)
			if err != nil {
				panic(err)
			}
			return b
		}
		if n, ok := v["number"].(json.Number); ok {
			number = n
			break
		}
		f, err := strconv.ParseFloat(fmt.Sprint(v["@double"]), 64)
		if err != nil {
			panic(err)
		}
		if typ == "float" {
			return protowire.AppendFixed32(nil, math.Float32bits(float32(f)))
		}
		if math.IsNaN(f) {
			return protowire.AppendFixed64(nil, 0x7ff8000000000000)
		}
		return protowire.AppendFixed64(nil, math.Float64bits(f))
	case bool:
		return protowire.AppendVarint(nil, protowire.EncodeBool(v))
	}
	switch f, _ := number.Float64(); typ {
	case "double":
		return protowire.AppendFixed64(nil, math.Float64bits(f))
	case "float":
		return protowire.AppendFixed32(nil, math.Float32bits(float32(f)))
	}
	i, ok := new(big.Int).SetString(string(number), 10)
	if !ok {
		panic(number)
	}
	bits := new(big.Int).And(i, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	switch typ {
	case "sint32", "sint64":
		return protowire.AppendVarint(nil, protowire.EncodeZigZag(int64(bits)))
	case "fixed32", "sfixed32":
		return protowire.AppendFixed32(nil, uint32(bits))
	case "fixed64", "sfixed64":
		return protowire.AppendFixed64(nil, bits)
	}
	return protowire.AppendVarint(nil, bits)
}

// json compares what protobuf's JsonFormat wrote: members by name, longs as texts, bytes as base64, no member that is 0.
// Messages of google.protobuf have forms of their own, of which the wrappers' are compared.
func (m *messages) json(got any, want map[string]any) string {
	class := fmt.Sprint(want["@class"])
	fields := want["@fields"].([]any)
	if strings.HasPrefix(class, "com.google.protobuf.") && class != "com.google.protobuf.Empty" {
		if !strings.HasSuffix(class, "Value") || class == "com.google.protobuf.Value" || len(fields) == 0 {
			return ""
		}
		field := fields[0].(map[string]any)
		return m.jsonScalar(got, field["type"].(string), field["value"])
	}
	object, ok := got.(map[string]any)
	if !ok {
		return short(got) + " instead of an object"
	}
	if len(object) != len(fields) {
		return fmt.Sprintf("%d members instead of %d", len(object), len(fields))
	}
	for _, f := range fields {
		field := f.(map[string]any)
		g, ok := object[field["name"].(string)]
		if !ok {
			return fmt.Sprint(field["name"], " is missing")
		}
		typ, value := field["type"].(string), field["value"]
		diff := ""
		switch list, isList := g.([]any); {
		case field["map"] == true: // keys are texts, and the log has no types
			if o, ok := g.(map[string]any); !ok || len(o) != len(value.([]any)) {
				diff = short(g) + " instead of a map"
			}
		case field["repeated"] != true:
			diff = m.jsonScalar(g, typ, value)
		case !isList || len(list) != len(value.([]any)):
			diff = short(g) + " instead of a list"
		default:
			for i, v := range value.([]any) {
				if diff = m.jsonScalar(list[i], typ, v); diff != "" {
					break
				}
			}
		}
		if diff != "" {
			return fmt.Sprint(field["name"], ": ", diff)
		}
	}
	return ""
}

func (m *messages) jsonScalar(got any, typ string, want any) string {
	ok := false
	switch typ {
	case "message":
		return m.json(got, want.(map[string]any))
	case "int64", "uint64", "sint64", "fixed64", "sfixed64":
		ok = got == string(want.(json.Number))
	case "bytes":
		ok = got == want.(map[string]any)["@bytes"]
	case "enum":
		e := want.(map[string]any)
		ok = got == e["name"] || got == e["number"]
	case "float", "double":
		if o, special := want.(map[string]any); special {
			ok = got == o["@double"]
			break
		}
		a, err1 := strconv.ParseFloat(decimal(got), 64)
		b, err2 := want.(json.Number).Float64()
		ok = err1 == nil && err2 == nil && (a == b || typ == "float" && float32(a) == float32(b))
	default:
		ok = got == want
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("%s instead of %s %s", short(got), typ, short(want))
}

// decimal is the text of a number of any size.
func decimal(got any) string {
	if o, ok := got.(map[string]any); ok {
		return fmt.Sprint(o["@decimal"])
	}
	return fmt.Sprint(got)
}
