package truth

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
