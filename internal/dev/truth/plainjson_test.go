package truth

import (
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Jackson and others write JSON without any type: beans are their getters, those that return null left out, a date is a
// number or a list of numbers, bytes are base64, a key is a text. What is left of a logged value is compared.

// plainJSONValues compares the values of a capture, and returns how many there were.
func plainJSONValues(t *testing.T, p *provenance, r *run, pairs map[int64]pair) int {
	if !slices.ContainsFunc(p.Serializations, func(s string) bool { return plainNames[s] != nil }) {
		return 0
	}
	var all plainJSON
	check := func(what, serialization string, got, want, received any, roots ...any) {
		k := plainJSON{root: want, rules: plainNames[serialization], roots: roots}
		diff := k.compare("", got, want)
		if diff != "" && k.rules.nodes { // what smartbuf's receiver has is what its sender wrote
			k = plainJSON{root: received, rules: plainNames[serialization], roots: roots}
			if k.compare("", got, received) == "" {
				diff = ""
			}
		}
		if diff != "" { // short takes long
			assert.Fail(t, diff, "%s\n ours  %s\n truth %s", what, short(got), short(want))
		}
		all.compared, all.missing = all.compared+k.compared, all.missing+k.missing
	}
	for i := range r.calls {
		c := &r.calls[i]
		if q, ok := pairs[c.RequestFrame]; ok && plainNames[q.ours.Serialization] != nil && q.ours.Complete {
			want, arrived, root := any(q.sent.Arguments), any(q.arrived().Arguments), any(c.Arguments)
			if c.Generic && len(q.sent.Arguments) == 3 { // references count from the arguments of $invoke
				want, root = q.sent.Arguments[2], []any{nil, nil, c.Arguments}
			}
			// Each argument is a text of its own, the array of a generic call is one.
			check(fmt.Sprintf("frame %d %s arguments", c.RequestFrame, c.Method), q.ours.Serialization, any(c.Arguments), want, arrived, root)
		}
		q, ok := pairs[c.ResponseFrame]
		if !ok || plainNames[q.ours.Serialization] == nil || !q.ours.Complete || q.sent.Status != 20 || q.sent.DecodeError != "" {
			continue
		}
		what := fmt.Sprintf("frame %d answer to %s", c.ResponseFrame, c.Method)
		if q.sent.ResultKind != "exception" {
			check(what, q.ours.Serialization, c.Result, q.sent.Result, q.arrived().Result, c.Result)
			continue
		}
		require.NotNil(t, c.Exception, what)
		if q.sent.Exception.Message != nil || text(c.Exception.Message) != "" || !plainNames[q.ours.Serialization].zeros {
			assert.Equal(t, q.sent.Exception.Message, c.Exception.Message, what)
		}
	}
	require.Positive(t, all.compared)
	t.Logf("%d values; %d members are logged and not on the wire", all.compared, all.missing)
	assert.Less(t, all.missing, all.compared/50, "members without a getter")
	return all.compared
}

// arrived is what the receiver logged, or nothing.
func (q *pair) arrived() *logged {
	if q.received == nil {
		return new(logged)
	}
	return q.received
}

// plainJSON compares one value.
type plainJSON struct {
	root              any // of the log, for references
	compared, missing int // values, and members of beans that have no getter
	rules             *plainRules
	roots             []any               // of ours, for references
	resolved          map[[2]uintptr]bool // what references led to, and the logged value
}

// compare returns "" or the first difference.
func (k *plainJSON) compare(path string, got, want any) string {
	var c comparer
	want = c.follow(k.root, want)
	k.compared++
	ok := false
	if same, is := k.otherwise(got, want); is {
		if same {
			return ""
		}
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	switch w := want.(type) {
	case []any:
		return k.list(path, got, w)
	case map[string]any:
		var diff string
		if ok, diff = k.object(path, got, w); diff != "" {
			return diff
		}
	case json.Number:
		ok = sameNumber(got, string(w))
	case string:
		ok = got == w || got == strings.ReplaceAll(w, "\ufffd", "?") // half a surrogate pair, to Java's UTF-8 encoder
	default:
		ok = got == want
	}
	if ok {
		return ""
	}
	return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
}

// sameNumber compares with a number of any size.
func sameNumber(got any, want string) bool {
	a, ok1 := new(big.Float).SetPrec(400).SetString(decimal(got))
	b, ok2 := new(big.Float).SetPrec(400).SetString(want)
	if !ok1 || !ok2 {
		return false
	}
	n, isNumber := got.(json.Number)
	return a.Cmp(b) == 0 || isNumber && sameFloat(n, json.Number(want))
}

// list compares elements, in any order where it is a set.
func (k *plainJSON) list(path string, got any, want []any) string {
	if s, ok := got.(string); ok && sameChars(s, want) {
		return "" // a char[]
	}
	g, ok := got.([]any)
	if !ok || len(g) != len(want) {
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	first := ""
	for i := range g {
		if diff := k.compare(fmt.Sprintf("%s[%d]", path, i), g[i], want[i]); diff != "" && first == "" {
			first = diff
		}
	}
	if first == "" {
		return ""
	}
	left := slices.Clone(want)
	for _, e := range g {
		i := slices.IndexFunc(left, func(w any) bool { return k.same(e, w) })
		if i < 0 {
			return first
		}
		left = slices.Delete(left, i, i+1)
	}
	return ""
}

func (k *plainJSON) same(got, want any) bool {
	fresh := plainJSON{root: k.root, rules: k.rules, roots: k.roots, resolved: k.resolved}
	return fresh.compare("", got, want) == ""
}

// object compares what the log has an object for.
func (k *plainJSON) object(path string, got any, want map[string]any) (ok bool, diff string) {
	one := func(name string) string { s, _ := want[name].(string); return s }
	switch {
	case want["@bytes"] != nil:
		return got == one("@bytes"), ""
	case want["@date"] != nil:
		return sameDate(got, one("@date")), ""
	case want["@decimal"] != nil:
		return sameNumber(got, one("@decimal")), ""
	case want["@double"] != nil:
		return got == one("@double"), ""
	case want["@enum"] != nil:
		return got == one("name"), ""
	case strings.HasPrefix(one("@class"), "java.util.concurrent.atomic."):
		return k.same(got, want["value"]), ""
	case len(want) == 2 && one("value") != "" && isJDK(one("@class")):
		return true, "" // the log has its text, the wire what its getters say
	}
	g, ok := got.(map[string]any)
	if !ok {
		return false, ""
	}
	if pairs, ok := want["@map"].([]any); ok {
		return k.pairs(g, pairs), ""
	}
	bean := want["@class"] != nil
	for name, w := range want {
		if strings.HasPrefix(name, "@") || strings.Contains(name, "#") || shadowed(want, name) {
			continue
		}
		v, ok := g[name]
		if !ok {
			v, ok = g[strings.ReplaceAll(name, "\ufffd", "?")]
		}
		switch {
		case !ok && (w == nil || bean):
			// Gson leaves an object out of itself, the extension's fastjson numbers that are 0.
			if w != nil && !k.is(want, w) && !(k.rules != nil && k.rules.zeros && isDefault(w)) {
				k.missing++
			}
		case !ok:
			return false, fmt.Sprintf("at %s: %q is missing", path, name)
		default:
			if diff := k.compare(path+"."+name, v, w); diff != "" {
				return false, diff
			}
		}
	}
	return true, ""
}

// is reports whether a logged value is the object itself.
func (k *plainJSON) is(object map[string]any, v any) bool {
	var c comparer
	target, _ := c.follow(k.root, v).(map[string]any)
	key, ok := pairOf(object, target)
	return ok && key[0] == key[1]
}

// pairs compares a map with keys that are not strings, or strings that look like ours. Jackson makes texts of them, and leaves
// entries out whose value is null.
func (k *plainJSON) pairs(got map[string]any, want []any) bool {
	entries, ok := got["@map"].([]any)
	if !ok {
		for key, v := range got {
			entries = append(entries, []any{key, v})
		}
	}
	left := slices.Clone(want)
	for _, e := range entries {
		i := slices.IndexFunc(left, func(w any) bool {
			key, text := w.([]any)[0].(string)
			return (!text || key == e.([]any)[0]) && k.same(e.([]any)[1], w.([]any)[1])
		})
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return !slices.ContainsFunc(left, func(w any) bool { return w.([]any)[1] != nil })
}

// sameDate compares with milliseconds, or a list of year, month, day, hour, minute, second, nanoseconds that may end early or
// start with the hour.
func sameDate(got any, want string) bool {
	at, err := parseInstant(want)
	local := err != nil
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04:05.999999999", "15:04:05.999999999"} {
		if local {
			if t, err := time.Parse(layout, want); err == nil {
				at, local = t, false
			}
		}
	}
	if local {
		return got != nil // beyond time.Time
	}
	switch g := got.(type) {
	case json.Number: // java.util.Date: milliseconds; java.time: seconds with nine decimals
		ms, err := strconv.ParseInt(string(g), 10, 64)
		f, _ := g.Float64()
		return err == nil && ms == at.UnixMilli() || int64(f) == at.Unix() || int64(f) == at.Unix()-1
	case map[string]any:
		return sameNumber(got, fmt.Sprintf("%d.%09d", at.Unix(), at.Nanosecond()))
	case []any:
		parts := []int{at.Year(), int(at.Month()), at.Day(), at.Hour(), at.Minute(), at.Second(), at.Nanosecond()}
		if !strings.Contains(want, "-") {
			parts = parts[3:]
		}
		for i, p := range g {
			if i >= len(parts) || p != any(json.Number(strconv.Itoa(parts[i]))) {
				return false
			}
		}
		return true
	}
	s, ok := got.(string)
	return ok && s != ""
}

// The comparison finds differences.
func TestPlainJSONComparer(t *testing.T) {
	for _, c := range []struct {
		ours, truth string
		same        bool
	}{
		{`{"a":1}`, `{"@class":"A","a":1,"b":null}`, true},
		{`{"a":2}`, `{"@class":"A","a":1}`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`[1,2]`, `[2,1]`, true},
		{`[1,1]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`"AQI="`, `{"@bytes":"AQI="}`, true},
		{`"AQM="`, `{"@bytes":"AQI="}`, false},
		{`{"@decimal":"1.10"}`, `{"@decimal":"1.1"}`, true},
		{`1.2`, `{"@decimal":"1.1"}`, false},
		{`"RED"`, `{"@enum":"C","name":"RED"}`, true},
		{`"BLUE"`, `{"@enum":"C","name":"RED"}`, false},
		{`[2020,1,2]`, `{"@date":"2020-01-02"}`, true},
		{`[2020,1,3]`, `{"@date":"2020-01-02"}`, false},
		{`1577934245006`, `{"@date":"2020-01-02T03:04:05.006Z"}`, true},
		{`1577934255006`, `{"@date":"2020-01-02T03:04:05.006Z"}`, false},
		{`{"5":"x"}`, `{"@map":[[5,"x"]]}`, true},
		{`{"5":"x"}`, `{"@map":[[5,"y"]]}`, false},
		{`{"@map":[["@a",1]]}`, `{"@map":[["@a",1],["b",null]]}`, true},
		{`{"@map":[["@a",1]]}`, `{"@map":[["@b",1]]}`, false},
		{`5`, `{"@class":"java.util.concurrent.atomic.AtomicLong","value":5}`, true},
		{`"ab"`, `["a","b"]`, true},
		{`null`, `1`, false},
		{`1`, `null`, false},
	} {
		ours, truth := parsed(t, c.ours), parsed(t, c.truth)
		k := plainJSON{root: truth}
		diff := k.compare("", ours, truth)
		assert.Equal(t, c.same, diff == "", "%s %s: %s", c.ours, c.truth, diff)
	}
}
