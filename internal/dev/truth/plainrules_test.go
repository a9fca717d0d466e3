package truth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// plainNames are the serializations that write beans as members without declared types, and what each does besides.
var plainNames = map[string]*plainRules{
	"jackson":                    {},
	"gson":                       {numbers: true},
	"msgpack":                    {},
	"smartbuf":                   {nodes: true},
	"fastjson":                   {refs: true, notFinite: true},
	"fastjson (length-prefixed)": {refs: true, notFinite: true, zeros: true},
}

// plainRules are the ways in which these formats differ.
type plainRules struct {
	numbers   bool // bytes and bits are lists of numbers; a declared type without fields is {}
	refs      bool // objects that were written before are references
	notFinite bool // NaN and infinities are null
	zeros     bool // null is "", 0 or false where such a type is declared
	nodes     bool // objects of classes that smartbuf itself makes, and beans that are collections
}

// otherwise compares what has more than one form; is is false for everything else.
func (k *plainJSON) otherwise(got, want any) (same, is bool) {
	w, _ := want.(map[string]any)
	g, _ := got.(map[string]any)
	list, isList := got.([]any)
	class, _ := w["@class"].(string)
	if class != "" && g["@class"] != nil && g["@class"] != class {
		return false, true
	}
	if all, _ := want.([]any); len(list) > 0 && len(all) >= len(list) && opaque(list[len(list)-1]) {
		read := len(list) - 1 // fastjson 1.1.18 wrote no JSON from there on
		return k.same(list[:read], all[:read]), true
	}
	if k.rules != nil && k.rules.refs && len(g) == 1 && isText(g["@ref"]) {
		return k.referred(g["@ref"].(string), want), true
	}
	if path, is := g["$ref"].(string); is && k.rules != nil && k.rules.refs && len(g) == 1 && strings.Contains(path, ".null") {
		return want != nil, true // fastjson of 2.5: the place in an array is not written
	}
	if class != "" && k.rules != nil {
		if same, is := k.exotic(class, got, w); is {
			return same, true
		}
	}
	switch {
	case k.rules != nil && k.rules.refs && g != nil && len(g) == 0 && isNumber(want): // in an array of Number
		return true, true
	case k.rules != nil && k.rules.numbers && g != nil && len(g) == 0 && !isText(want) && (w == nil || w["@class"] == nil): // declared as a type without fields
		return true, true
	case w == nil && want != nil, k.rules == nil:
	case want == nil:
		if k.rules.zeros && (got == "" || got == any(json.Number("0")) || got == false || isList && len(list) == 0) {
			return true, true
		}
	case g["@date"] != nil && isText(w["value"]): // a Calendar
		return g["@date"] == w["value"], true
	case class == "java.util.BitSet" && k.rules.nodes && g["@bytes"] != nil: // little-endian
		return sameWords(g["@bytes"], w["words"]), true
	case g["@date"] != nil && w["@date"] != nil && k.rules.zeros: // in milliseconds
		a, err1 := parseInstant(fmt.Sprint(g["@date"]))
		b, err2 := parseInstant(fmt.Sprint(w["@date"]))
		return reflect.DeepEqual(g, w) || err1 == nil && err2 == nil && a.Equal(b.Truncate(time.Millisecond)), true
	case g["@bytes"] != nil || g["@double"] != nil || g["@date"] != nil:
		return reflect.DeepEqual(g, w), true
	case w["@date"] != nil && g["val"] != nil && strings.HasPrefix(fmt.Sprint(g["@class"]), "java.sql."):
		return len(g) == 2 && sameDate(g["val"], w["@date"].(string)), true
	case strings.HasPrefix(class, "java.util.Optional") && k.rules.numbers && g != nil: // its fields
		return g["value"] == w["value"], true
	case len(w) == 1 && g["@class"] != nil && w["@map"] != nil: // a class that the sender did not have: a map with its name
		named := map[string]any{"@type": g["@class"]}
		for name, v := range g {
			if name != "@class" {
				named[name] = v
			}
		}
		return k.pairs(named, w["@map"].([]any)), true
	case strings.HasPrefix(class, "java.util.Optional") && g["present"] != nil: // its getters
		return g["present"] == (w["value"] != nil) && (g["asInt"] == nil || g["asInt"] == w["value"]), true
	case k.rules.notFinite && w["@double"] != nil && got == nil:
		return true, true
	case isList && w["@bytes"] != nil && k.rules.numbers:
		return sameNumbers(list, w["@bytes"]), true
	case isList && class == "java.util.BitSet" && k.rules.numbers:
		bits := make([]any, len(list))
		for i, n := range list {
			bits[i] = n == json.Number("1")
		}
		return sameBitSet(bits, w["words"]), true
	case w["@decimal"] != nil && isText(got):
		return sameNumber(json.Number(got.(string)), w["@decimal"].(string)), true
	case strings.HasPrefix(class, "java.util.Optional") || class == "com.google.gson.internal.LazilyParsedNumber":
		if n, text := w["value"].(string); text && class[0] == 'c' {
			return sameNumber(got, n), true
		}
		return k.same(got, w["value"]) || got == nil && w["value"] == nil, true
	case g != nil && w["@date"] != nil:
		if at, ok := fieldsOfTime(g); ok {
			return at == clock(w["@date"].(string)), true
		}
	case k.rules.nodes && class == "com.github.smartbuf.node.basic.ObjectNode":
		made := map[string]any{}
		fields, _ := w["fields"].([]any)
		keys, _ := w["keys"].([]any)
		for i, name := range keys {
			made[fmt.Sprint(name)] = fields[i]
		}
		return k.same(got, made), true
	case k.rules.nodes && isList && strings.HasSuffix(class, ".JavaBeanDescriptor"): // Iterable: its properties, one by one
		properties, _ := w["properties"].(map[string]any)
		return len(list) == len(properties) && !k.strange(list, properties), true
	}
	if text, ok := want.(string); ok && text != "" && k.rules != nil && k.rules.numbers && g != nil {
		return len(g) == 0, true
	}
	return false, false
}

// strange reports whether one of the entries has a name that is not a property.
func (k *plainJSON) strange(entries []any, properties map[string]any) bool {
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		for name := range entry {
			if _, ok := properties[name]; !ok {
				return true
			}
		}
		if len(entry) != 1 {
			return true
		}
	}
	return false
}

func isNumber(v any) bool {
	_, ok := v.(json.Number)
	return ok
}

func isText(v any) bool {
	_, ok := v.(string)
	return ok
}

// sameNumbers compares signed bytes with base64.
func sameNumbers(list []any, encoded any) bool {
	raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(encoded))
	if err != nil || len(raw) != len(list) {
		return false
	}
	for i, b := range raw {
		if list[i] != any(json.Number(fmt.Sprint(int8(b)))) {
			return false
		}
	}
	return true
}

// sameWords compares bits as bytes with words of 64.
func sameWords(encoded, words any) bool {
	raw, err := base64.StdEncoding.DecodeString(fmt.Sprint(encoded))
	bits := make([]any, 8*len(raw))
	for i := range bits {
		bits[i] = raw[i/8]>>(i%8)&1 == 1
	}
	return err == nil && sameBitSet(bits, words)
}

// referred compares what a reference leads to, below the first of the roots.
func (k *plainJSON) referred(path string, want any) bool {
	if len(k.roots) == 0 {
		return false
	}
	target, ok := walk(k.roots[0], path)
	if !ok {
		return false
	}
	key, containers := pairOf(target, want)
	if k.resolved[key] { // a cycle, or known to be the same
		return true
	}
	if k.resolved == nil {
		k.resolved = map[[2]uintptr]bool{}
	}
	if k.resolved[key] = containers; containers && k.same(target, want) {
		return true
	}
	delete(k.resolved, key)
	return false
}

// exotic compares objects of the JDK whose getters, fields or text say something else than the log.
func (k *plainJSON) exotic(class string, got any, want map[string]any) (same, is bool) {
	g, _ := got.(map[string]any)
	switch {
	case strings.HasPrefix(class, "java.util.") && has(want, "this$0"): // an iterator
		return g != nil || k.same(got, want["this$0"]), true
	case class == "java.util.Collections$3":
		i, _ := want["i"].(map[string]any)
		return got == nil || g != nil || k.same(got, i["this$0"]), true
	case class == "java.util.Locale" && want["value"] == "":
		return got == "" || got == "und" || g != nil, true
	case class == "java.io.File":
		return got == want["path"], !(g != nil && g["path"] != nil)
	case class == "java.util.concurrent.atomic.AtomicBoolean" && !has(g, "value"):
		return got == any(want["value"] == json.Number("1")), true
	case class == "java.util.concurrent.atomic.AtomicIntegerArray":
		return k.same(got, want["array"]) || g != nil && len(g) <= 1, true // jackson: no getters
	case class == "java.util.concurrent.atomic.LongAdder":
		return got == any(json.Number("5")) || g != nil && (len(g) == 0 || g["value"] == any(json.Number("5"))), true
	case strings.HasPrefix(class, "java.util.concurrent.atomic.") && has(g, "value"):
		return k.same(g["value"], want["value"]), true
	}
	return false, false
}

// fieldsOfTime returns year, month, day, hour, minute, second and nanosecond from an object that has them, or an instant from
// its two.
func fieldsOfTime(g map[string]any) (at string, ok bool) {
	date, time := g, g
	if d, nested := g["date"].(map[string]any); nested {
		date, time = d, g["time"].(map[string]any)
	}
	one := func(m map[string]any, names ...string) (n string, ok bool) {
		for _, name := range names {
			if v, is := m[name].(json.Number); is {
				return string(v), true
			}
		}
		return "", false
	}
	if s, ok := one(g, "seconds", "epochSecond"); ok {
		n, _ := one(g, "nanos", "nano")
		return "instant " + s + " " + n, n != ""
	}
	var parts []string
	year, hasDate := one(date, "year")
	hour, hasTime := one(time, "hour")
	if hasDate {
		month, _ := one(date, "monthValue", "month")
		day, _ := one(date, "dayOfMonth", "day")
		parts = append(parts, year, month, day)
	}
	if hasTime {
		minute, _ := one(time, "minute")
		second, _ := one(time, "second")
		nano, _ := one(time, "nano")
		parts = append(parts, hour, minute, second, nano)
	}
	return strings.Join(parts, " "), hasDate || hasTime
}

// clock returns a logged time in the form of fieldsOfTime.
func clock(text string) string {
	if at, err := parseInstant(text); err == nil {
		return fmt.Sprintf("instant %d %d", at.Unix(), at.Nanosecond())
	}
	var parts []string
	date, time, both := strings.Cut(text, "T")
	if !both && strings.Contains(text, ":") {
		date, time = "", text
	}
	number := func(s string) string {
		n, _ := new(big.Int).SetString(s, 10)
		return fmt.Sprint(n)
	}
	if date != "" {
		for i, p := range strings.Split(strings.TrimPrefix(date, "-"), "-") {
			if i == 0 && date[0] == '-' {
				p = "-" + p
			}
			parts = append(parts, number(p))
		}
	}
	if time != "" {
		if offset := strings.IndexAny(time, "+-Z["); offset >= 0 {
			time = time[:offset]
		}
		whole, fraction, _ := strings.Cut(time, ".")
		fields := strings.Split(whole, ":")
		if len(fields) == 2 {
			fields = append(fields, "0")
		}
		for _, p := range fields {
			parts = append(parts, number(p))
		}
		parts = append(parts, number((fraction + "000000000")[:9]))
	}
	return strings.Join(parts, " ")
}

// What one of these formats writes otherwise is taken from it alone, and compared.
func TestPlainRules(t *testing.T) {
	for _, c := range []struct {
		format, ours, truth string
		same                bool
	}{
		{"gson", `[0,-1]`, `{"@bytes":"AP8="}`, true},
		{"gson", `[0,-2]`, `{"@bytes":"AP8="}`, false},
		{"gson", `[0]`, `{"@bytes":"AP8="}`, false},
		{"msgpack", `[0,-1]`, `{"@bytes":"AP8="}`, false},
		{"msgpack", `{"@bytes":"AP8="}`, `{"@bytes":"AP8="}`, true},
		{"msgpack", `{"@bytes":"AP4="}`, `{"@bytes":"AP8="}`, false},
		{"msgpack", `{"@double":"NaN"}`, `{"@double":"NaN"}`, true},
		{"msgpack", `{"@double":"Infinity"}`, `{"@double":"NaN"}`, false},
		{"gson", `[1,0,1]`, `{"@class":"java.util.BitSet","words":[5]}`, true},
		{"gson", `[1,1,1]`, `{"@class":"java.util.BitSet","words":[5]}`, false},
		{"gson", `{}`, `"comparable"`, true},
		{"gson", `{"a":1}`, `"comparable"`, false},
		{"msgpack", `{}`, `"comparable"`, false},
		{"smartbuf", `"1.50"`, `{"@decimal":"1.50"}`, true},
		{"smartbuf", `"1.51"`, `{"@decimal":"1.50"}`, false},
		{"fastjson", `null`, `{"@double":"NaN"}`, true},
		{"gson", `null`, `{"@double":"NaN"}`, false},
		{"fastjson", `3`, `{"@class":"java.util.OptionalInt","isPresent":true,"value":3}`, true},
		{"fastjson", `4`, `{"@class":"java.util.OptionalInt","isPresent":true,"value":3}`, false},
		{"gson", `{"value":"x"}`, `{"@class":"java.util.Optional","value":"x"}`, true},
		{"gson", `{"value":"y"}`, `{"@class":"java.util.Optional","value":"x"}`, false},
		{"gson", `{}`, `{"@class":"java.util.Optional","value":"x"}`, false},
		{"smartbuf", `{"@bytes":"BQ=="}`, `{"@class":"java.util.BitSet","words":[5]}`, true},
		{"smartbuf", `{"@bytes":"Bg=="}`, `{"@class":"java.util.BitSet","words":[5]}`, false},
		{"fastjson (length-prefixed)", `{"@class":"a.B","n":1}`, `{"@map":[["@type","a.B"],["n",1]]}`, true},
		{"fastjson (length-prefixed)", `{"@class":"a.C","n":1}`, `{"@map":[["@type","a.B"],["n",1]]}`, false},
		{"fastjson (length-prefixed)", `{"@class":"a.B","n":2}`, `{"@map":[["@type","a.B"],["n",1]]}`, false},
		{"fastjson", `{"empty":false,"present":true,"asInt":3}`, `{"@class":"java.util.OptionalInt","value":3}`, true},
		{"fastjson", `{"empty":false,"present":true,"asInt":4}`, `{"@class":"java.util.OptionalInt","value":3}`, false},
		{"fastjson", `{"empty":true,"present":false}`, `{"@class":"java.util.OptionalInt","value":3}`, false},
		{"fastjson (length-prefixed)", `{"@date":"2019-11-19T08:00:00Z"}`, `{"@class":"java.util.GregorianCalendar","value":"2019-11-19T08:00:00Z"}`, true},
		{"fastjson (length-prefixed)", `{"@date":"2019-11-19T08:00:01Z"}`, `{"@class":"java.util.GregorianCalendar","value":"2019-11-19T08:00:00Z"}`, false},
		{"fastjson (length-prefixed)", `{"@class":"java.sql.Date","val":7000}`, `{"@date":"1970-01-01T00:00:07Z"}`, true},
		{"fastjson (length-prefixed)", `{"@class":"java.sql.Date","val":8000}`, `{"@date":"1970-01-01T00:00:07Z"}`, false},
		{"fastjson", `{"a b":[{"a":1}],"c":{"@ref":"result.a b[0]"}}`, `{"a b":[{"a":1}],"c":{"a":1}}`, true},
		{"fastjson", `{"a b":[{"a":1}],"c":{"@ref":"result.a b[0]"}}`, `{"a b":[{"a":1}],"c":{"a":2}}`, false},
		{"fastjson", `null`, `{"@class":"java.util.Optional","value":null}`, true},
		{"fastjson", `null`, `{"@class":"java.util.Optional","value":1}`, false},
		{"gson", `17`, `{"@class":"com.google.gson.internal.LazilyParsedNumber","value":"17"}`, true},
		{"gson", `18`, `{"@class":"com.google.gson.internal.LazilyParsedNumber","value":"17"}`, false},
		{"gson", `{"day":8,"month":12,"year":1968}`, `{"@date":"1968-12-08"}`, true},
		{"gson", `{"day":9,"month":12,"year":1968}`, `{"@date":"1968-12-08"}`, false},
		{"gson", `{"date":{"day":19,"month":11,"year":2019},"time":{"hour":16,"minute":0,"nano":500000000,"second":1}}`, `{"@date":"2019-11-19T16:00:01.500"}`, true},
		{"gson", `{"date":{"day":19,"month":11,"year":2019},"time":{"hour":16,"minute":0,"nano":500000001,"second":1}}`, `{"@date":"2019-11-19T16:00:01.500"}`, false},
		{"msgpack", `{"hour":23,"minute":59,"nano":1,"second":59}`, `{"@date":"23:59:59.000000001"}`, true},
		{"msgpack", `{"hour":23,"minute":58,"nano":1,"second":59}`, `{"@date":"23:59:59.000000001"}`, false},
		{"fastjson", `{"epochSecond":1574150400,"nano":5}`, `{"@date":"2019-11-19T08:00:00.000000005Z"}`, true},
		{"fastjson", `{"epochSecond":1574150401,"nano":5}`, `{"@date":"2019-11-19T08:00:00.000000005Z"}`, false},
		{"fastjson (length-prefixed)", `{"@date":"1970-01-01T00:00:07Z"}`, `{"@date":"1970-01-01T00:00:07Z"}`, true},
		{"fastjson (length-prefixed)", `{"@date":"1970-01-01T00:00:08Z"}`, `{"@date":"1970-01-01T00:00:07Z"}`, false},
		{"fastjson (length-prefixed)", `{"@date":"1970-01-01T00:00:07.123Z"}`, `{"@date":"1970-01-01T00:00:07.123456Z"}`, true},
		{"fastjson (length-prefixed)", `{"@date":"1970-01-01T00:00:07.124Z"}`, `{"@date":"1970-01-01T00:00:07.123456Z"}`, false},
		{"fastjson (length-prefixed)", `["",0,false]`, `[null,null,null]`, true},
		{"fastjson (length-prefixed)", `["x"]`, `[null]`, false},
		{"fastjson (length-prefixed)", `[1]`, `[null]`, false},
		{"fastjson", `[""]`, `[null]`, false},
		{"fastjson (length-prefixed)", `{"@class":"a.B","x":1}`, `{"@class":"a.B","x":1}`, true},
		{"fastjson (length-prefixed)", `{"@class":"a.C","x":1}`, `{"@class":"a.B","x":1}`, false},
		{"fastjson", `[{"a":1},{"@ref":"result[0]"}]`, `[{"a":1},{"a":1}]`, true},
		{"fastjson", `[{"a":1},{"@ref":"result[0]"}]`, `[{"a":1},{"a":2}]`, false},
		{"fastjson", `[{"a":1},{"@ref":"result[5]"}]`, `[{"a":1},{"a":1}]`, false},
		{"fastjson", `{"s":{"@ref":"result"}}`, `{"s":{"@ref":"result"}}`, true},
		{"fastjson", `{"s":{"@ref":"result"}}`, `{"s":"x"}`, false},
		{"gson", `[{"a":1},{"@ref":"result[0]"}]`, `[{"a":1},{"a":1}]`, false},
		{"smartbuf", `{"a":1}`, `{"@class":"com.github.smartbuf.node.basic.ObjectNode","fields":[1],"keys":["a"],"stable":true}`, true},
		{"smartbuf", `{"a":2}`, `{"@class":"com.github.smartbuf.node.basic.ObjectNode","fields":[1],"keys":["a"],"stable":true}`, false},
		{"smartbuf", `[{"id":1}]`, `{"@class":"x.JavaBeanDescriptor","properties":{"id":1}}`, true},
		{"smartbuf", `[{"ix":1}]`, `{"@class":"x.JavaBeanDescriptor","properties":{"id":1}}`, false},
		{"smartbuf", `{"@map":[["n",null],["@a",1]]}`, `{"@map":[["n",null],["@a",1]]}`, true},
		{"smartbuf", `{"@map":[["n",null],["m",null],["@a",1]]}`, `{"@map":[["n",null],["@a",1]]}`, false},
	} {
		ours, truth := parsed(t, c.ours), parsed(t, c.truth)
		k := plainJSON{root: truth, rules: plainNames[c.format], roots: []any{ours}}
		diff := k.compare("", ours, truth)
		assert.Equal(t, c.same, diff == "", "%s: %s %s: %s", c.format, c.ours, c.truth, diff)
	}
}
