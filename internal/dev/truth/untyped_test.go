package truth

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Serializations 1 and 5 lose types: 1 the names and types of fields, 5 whatever JSON has no form for. What is left of a
// logged value is computed here and compared with ours.

// partly are the classes of the rig with transient fields, whose objects serialization 1 writes as streams of compacted
// Java serialization. Which numbers they have only the classes know.
var partly = []string{
	"org.dubbowire.rig.edge.Derived", "org.dubbowire.rig.edge.Shadow", "org.dubbowire.rig.edge.Custom$Written", "org.dubbowire.rig.zoo.Cover$Policy",
	"org.dubbowire.rig.zoo.Own$Extended", "org.dubbowire.rig.zoo.Own$Blocks", "org.dubbowire.rig.zoo.Own$Put", "org.dubbowire.rig.zoo.Faults$Rejected",
}

func untypedValues(t *testing.T, p *provenance, r *run, pairs map[int64]pair) {
	if !slices.ContainsFunc(p.Serializations, func(s string) bool { return s == "dubbo" || s == "json" }) {
		return
	}
	least := 80
	if strings.HasPrefix(p.Name, "mixed") { // few calls of each serialization
		least = 40
	}
	assert.Greater(t, compareUntyped(t, r, pairs), least, "values compared")
}

// compareUntyped returns the number of values that were compared.
func compareUntyped(t *testing.T, r *run, pairs map[int64]pair) (compared int) {
	check := func(what, serialization string, got, want any) {
		k := untyped{named: serialization == "json", ours: got, truth: want, open: map[[2]uintptr]bool{}}
		diff := k.compare("", got, want)
		assert.Empty(t, diff, "%s\n ours  %s\n truth %s", what, short(got), short(want))
		compared++
	}
	for i := range r.calls {
		c := &r.calls[i]
		if q, ok := pairs[c.RequestFrame]; ok && q.ours.Complete && untypedNames[q.ours.Serialization] {
			got, want := any(c.Arguments), any(q.sent.Arguments)
			if c.Generic && len(q.sent.Arguments) == 3 { // references count from the arguments of $invoke
				got, want = []any{nil, nil, c.Arguments}, []any{nil, nil, q.sent.Arguments[2]}
			}
			check(fmt.Sprintf("frame %d %s arguments", c.RequestFrame, q.ours.Method), q.ours.Serialization, got, want)
			check(fmt.Sprintf("frame %d %s attachments", c.RequestFrame, q.ours.Method), q.ours.Serialization, c.Attachments, q.sent.Attachments)
		}
		q, ok := pairs[c.ResponseFrame]
		if !ok || !q.ours.Complete || q.sent.Status != 20 || !untypedNames[q.ours.Serialization] {
			continue
		}
		name := fmt.Sprintf("frame %d answer to %s", c.ResponseFrame, c.Method)
		if q.sent.ResultKind != "exception" {
			check(name, q.ours.Serialization, c.Result, q.sent.Result)
			continue
		}
		require.NotNil(t, c.Exception, name)
		assert.Equal(t, q.sent.Exception.Class, c.Exception.Class, name)
		ownMessage := *q.sent.Exception.Class == "org.dubbowire.rig.zoo.Faults$Business" && q.ours.Serialization == "dubbo" // in a field without a name
		if c.Exception.Message != nil || q.ours.Decoded == "full" && !ownMessage {
			assert.Equal(t, q.sent.Exception.Message, c.Exception.Message, name)
		}
		compared++
	}
	return compared
}

var untypedNames = map[string]bool{"dubbo": true, "json": true}

// untyped compares a value with what is left of a logged one.
type untyped struct {
	named       bool // fields have names (5), or the order of these (1)
	ours, truth any
	open        map[[2]uintptr]bool
}

func (k *untyped) compare(path string, got, want any) string {
	var c comparer
	got, want = c.follow(k.ours, got), c.follow(k.truth, want)
	if key, ok := pairOf(got, want); ok {
		if k.open[key] {
			return ""
		}
		k.open[key] = true
	}
	differs := func() string { return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want)) }
	switch w := want.(type) {
	case nil:
		if got != nil && got != any(json.Number("-1")) { // a Boolean
			return differs()
		}
	case bool:
		if bit := map[bool]json.Number{true: "1", false: "0"}[w]; got != want && (k.named || got != any(bit)) {
			return differs()
		}
	case string:
		if text, ok := got.(string); ok && k.named && text == strings.ReplaceAll(w, "\ufffd", "?") {
			return "" // half a surrogate pair, to Java's UTF-8 encoder
		}
		if got != want && (k.named || !charCode(got, w)) {
			return differs()
		}
	case json.Number:
		if g, ok := got.(map[string]any); ok && !k.named && (len(g) == 0 || len(g) == 1 && g["@class"] == "java.lang.Number") {
			return "" // in a field declared as Number, a class without fields
		}
		if g, ok := got.(json.Number); !ok || g != w && !sameFloat(g, w) && (k.named || !sameBits(g, w)) {
			return differs()
		}
	case []any:
		return k.list(path, k.content(got), w)
	case map[string]any:
		if diff, ok := k.special(got, w); ok {
			if !diff {
				return ""
			}
			return differs()
		}
		if w["@class"] == nil {
			got = k.content(got)
		}
		g, ok := got.(map[string]any)
		if l, is := got.([]any); is && !k.named && len(l) == 0 && len(w) == 0 {
			return "" // an empty map in a field of its class is a count of 0, as an empty list is
		}
		if !ok {
			return differs()
		}
		return k.object(path, g, w)
	}
	return ""
}

// charCode: a char in a field is its code, in 16 bits with a sign.
func charCode(got any, char string) bool {
	n, ok := got.(json.Number)
	code, err := strconv.Atoi(string(n))
	if !ok || err != nil {
		return false
	}
	return string(utf16.Decode([]uint16{uint16(int16(code))})) == char || code >= 0 && string(rune(code)) == char
}

// content returns the elements of a collection that is written as an object with fields, Vector or EnumMap: its last
// member.
func (k *untyped) content(got any) any {
	g, ok := got.(map[string]any)
	if !ok || k.named || g["#0"] == nil && g["#1"] == nil {
		return got
	}
	n := 0
	for name := range g {
		if name[0] == '#' {
			n++
		}
	}
	switch last := g["#"+strconv.Itoa(n-1)].(type) {
	case []any, map[string]any:
		return last
	}
	return got
}

// sameBits reports whether a is the bits of the floating point number b.
func sameBits(a, b json.Number) bool {
	bits, err := a.Int64()
	f, err2 := b.Float64()
	return err == nil && err2 == nil && (int64(math.Float64bits(f)) == bits || int64(int32(math.Float32bits(float32(f)))) == bits)
}

func (k *untyped) list(path string, got any, want []any) string {
	g, ok := got.([]any)
	if !ok || len(g) != len(want) {
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	first := ""
	used := make([]bool, len(want))
	for i := range g {
		diff := k.compare(fmt.Sprintf("%s[%d]", path, i), g[i], want[i])
		if used[i] = diff == ""; diff != "" && first == "" {
			first = diff
		}
	}
	if first == "" {
		return ""
	}
	clear(used) // a set has no order
	for i := range g {
		j := slices.IndexFunc(want, func(w any) bool { return k.again(g[i], w) })
		for ; j >= 0 && j < len(want) && (used[j] || !k.again(g[i], want[j])); j++ {
		}
		if j < 0 || j >= len(want) {
			return first
		}
		used[j] = true
	}
	return ""
}

// again compares two values that were compared before.
func (k *untyped) again(got, want any) bool {
	fresh := untyped{named: k.named, ours: k.ours, truth: k.truth, open: map[[2]uintptr]bool{}}
	return fresh.compare("", got, want) == ""
}

// special compares what has a form of its own in the log; ok is false for maps and objects.
func (k *untyped) special(got any, want map[string]any) (differs, ok bool) {
	g, _ := got.(map[string]any)
	text, texts := got.(string)
	number, _ := got.(json.Number)
	one := func(name string) string { s, _ := want[name].(string); return s }
	switch {
	case want["@bytes"] != nil:
		raw, _ := base64.StdEncoding.DecodeString(one("@bytes"))
		if k.named {
			return text != one("@bytes"), true
		}
		return g["@bytes"] != want["@bytes"] && !(texts && text == string(raw)), true
	case want["@date"] != nil:
		return !k.date(got, one("@date")), true
	case want["@decimal"] != nil:
		if k.named {
			return !roughly(json.Number(decimal(got)), one("@decimal")), true
		}
		return g["@decimal"] != want["@decimal"] && bigOf(g) != one("@decimal"), true
	case want["@double"] != nil:
		bits, _ := number.Int64()
		return g["@double"] != want["@double"] && (k.named || !notFinite(bits, one("@double"))), true
	case want["@enum"] != nil:
		return !(texts && text == want["name"]) && !(g["@enum"] == want["@enum"] && g["name"] == want["name"]), true
	case k.named && strings.HasPrefix(one("@class"), "java.util.concurrent.atomic.Atomic") && want["value"] != nil && g == nil:
		if b, is := got.(bool); is {
			return b != (want["value"] == any(json.Number("1"))), true
		}
		return got != want["value"], true
	case len(want) == 2 && isText(want["value"]) && one("@class") != "" && isJDK(one("@class")):
		// The log has the text of a JDK object, the wire its fields.
		address := g["@class"] == "java.net.InetAddress" && strings.HasPrefix(one("@class"), "java.net.Inet")
		return texts && text != one("value") || g != nil && g["@class"] != nil && g["@class"] != want["@class"] && !address, true
	}
	return false, false
}

func isJDK(class string) bool {
	return strings.HasPrefix(class, "java.") || strings.HasPrefix(class, "sun.")
}

// date: an instant has milliseconds at most; in a field it is a number of these, in JSON a time without zone.
func (k *untyped) date(got any, want string) bool {
	if g, ok := got.(map[string]any); ok && k.named && isJDK(fmt.Sprint(g["@class"])) {
		return true // a bean, of java.sql or java.time
	}
	at, err := parseInstant(want)
	if err != nil {
		return false
	}
	switch g := got.(type) {
	case json.Number:
		ms, _ := g.Int64()
		return !k.named && ms == at.UnixMilli()
	case string:
		return k.named && len(g) == 19 && g[14:] == at.Format("04:05")
	case map[string]any:
		s, _ := g["@date"].(string)
		ours, err := parseInstant(s)
		return err == nil && ours.UnixMilli() == at.UnixMilli()
	}
	return false
}

func parseInstant(s string) (time.Time, error) {
	return time.Parse("2006-01-02T15:04:05.999999999Z", strings.TrimPrefix(s, "+"))
}

// roughly: Dubbo's JSON writes a BigDecimal as a double, a BigInteger as its last 64 bits.
func roughly(got json.Number, want string) bool {
	f, err := strconv.ParseFloat(want, 64)
	if g, err2 := got.Float64(); err == nil && err2 == nil && g == f {
		return true
	}
	v, ok := new(big.Int).SetString(want, 10)
	if !ok {
		return false
	}
	low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
	return strconv.FormatInt(int64(low.Uint64()), 10) == string(got)
}

// bigOf returns a BigInteger from its fields: four counts, the magnitude, the sign.
func bigOf(fields map[string]any) string {
	parts, _ := fields["#4"].([]any)
	v := new(big.Int)
	for _, p := range parts {
		n, _ := p.(json.Number)
		i, _ := n.Int64()
		v.Or(v.Lsh(v, 32), new(big.Int).SetUint64(uint64(uint32(i))))
	}
	if fields["#5"] == any(json.Number("-1")) {
		v.Neg(v)
	}
	return v.String()
}

func notFinite(bits int64, want string) bool {
	double, single := math.Float64frombits(uint64(bits)), float64(math.Float32frombits(uint32(bits)))
	for _, f := range []float64{double, single} {
		switch want {
		case "NaN":
			if math.IsNaN(f) {
				return true
			}
		case "Infinity", "-Infinity":
			if math.IsInf(f, map[bool]int{true: -1, false: 1}[want[0] == '-']) {
				return true
			}
		}
	}
	return false
}

func (k *untyped) object(path string, got, want map[string]any) string {
	if pairs, ok := want["@map"].([]any); ok {
		return k.pairs(path, got, pairs)
	}
	want = declaredAs(got, want)
	class, _ := want["@class"].(string)
	if len(want) == 2 && has(want, "message") && got["@class"] == class && has(got, "detailMessage") { // a throwable
		return k.compare(path+".detailMessage", got["detailMessage"], want["message"])
	}
	if got["@class"] == class+"$SerializationProxy" && isJDK(class) {
		return ""
	}
	if g, ok := got["@class"]; ok && g != want["@class"] && !(k.named && g == want["class"]) { // a map with an entry "class"
		return fmt.Sprintf("at %s: class %s instead of %s", path, g, class)
	}
	if class == "org.dubbowire.rig.zoo.Cover$Policy" || strings.HasPrefix(class, "org.dubbowire.rig.zoo.Own$") && slices.Contains(partly, class) {
		return "" // holds others, which only its class divides; has what its writeObject wrote, which the log has not
	}
	if got["#opaque"] != nil {
		return fmt.Sprintf("at %s: %s was not read", path, class)
	}
	if !k.named && slices.Contains(partly, class) {
		return k.divided(path, got, want)
	}
	if lost(got) {
		return ""
	}
	if class == "" || k.named {
		return k.members(path, got, want)
	}
	if _, ok := got["#0"]; !ok && len(got) > 1 {
		return k.members(path, got, want) // from a stream: with names
	}
	var names []string
	for name := range want {
		if name[0] != '@' {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, '#')+1:], b[strings.IndexByte(b, '#')+1:])
	})
	for i, name := range names {
		g, ok := got["#"+strconv.Itoa(i)]
		if !ok {
			return fmt.Sprintf("at %s: %d members instead of %d", path, i, len(names))
		}
		if diff := k.compare(path+"."+name, g, want[name]); diff != "" {
			return diff
		}
	}
	if _, more := got["#"+strconv.Itoa(len(names))]; more {
		return fmt.Sprintf("at %s: more than %d members", path, len(names))
	}
	return ""
}

// declaredAs: in a field or an array of the class Payment, 1 writes of every payment only what that class has.
func declaredAs(got, want map[string]any) map[string]any {
	class, _ := want["@class"].(string)
	switch class {
	case "org.dubbowire.rig.zoo.Shop$Card", "org.dubbowire.rig.zoo.Shop$Transfer":
		if has(got, "#3") || !has(got, "#2") {
			return want
		}
	case "org.dubbowire.rig.zoo.Shop$Voucher":
	default:
		return want
	}
	as := map[string]any{"@class": class, "amount": want["amount"], "due": want["due"], "reference": want["reference"]}
	if got["@class"] == "org.dubbowire.rig.zoo.Shop$Payment" {
		as["@class"] = got["@class"]
	}
	return as
}

// members compares by name. A bean of JSON has what getters return: there may be more of them than fields, and fewer.
func (k *untyped) members(path string, got, want map[string]any) string {
	for name, w := range want {
		if shadowed(want, name) {
			continue
		}
		g, ok := got[name]
		if !ok && (k.named && (want["@class"] != nil || name == "class") || strings.Contains(name, "#")) {
			continue
		}
		if !ok {
			return fmt.Sprintf("at %s: %q is missing", path, name)
		}
		if diff := k.compare(path+"."+name, g, w); diff != "" && !(k.named && g == nil) { // an object in itself is null
			return diff
		}
	}
	return ""
}

// pairs: maps whose keys are not strings. In JSON they are.
func (k *untyped) pairs(path string, got map[string]any, want []any) string {
	g, ok := got["@map"].([]any)
	if !ok && k.named { // every key is a string, and null is none
		want = slices.DeleteFunc(slices.Clone(want), func(w any) bool { return w.([]any)[0] == nil })
		for name, v := range got {
			g = append(g, []any{name, v})
		}
		ok = true
	}
	if !ok || len(g) != len(want) {
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	for _, e := range g {
		entry := e.([]any)
		if !slices.ContainsFunc(want, func(w any) bool {
			_, text := w.([]any)[0].(string)
			return (k.named && !text || k.again(entry[0], w.([]any)[0])) && k.again(entry[1], w.([]any)[1])
		}) {
			return fmt.Sprintf("at %s: no such entry %s", path, short(e))
		}
	}
	return ""
}

// divided compares what a stream's object is divided into: primitives in one piece, other fields in the order of the stream,
// without names. Each of these must be in the log, and each text of the log among them; what a writeObject wrote is not logged.
func (k *untyped) divided(path string, got, want map[string]any) string {
	found := map[string]bool{}
	members := 0
	for i := 0; got["#"+strconv.Itoa(i)] != nil; i++ {
		members++
		m := got["#"+strconv.Itoa(i)]
		if b, ok := m.(map[string]any); ok && b["@bytes"] != nil || m == "beside the fields" {
			continue
		}
		logged := false
		for name, w := range want {
			if name[0] != '@' && k.again(m, w) {
				logged, found[name] = true, true
			}
		}
		if !logged {
			return fmt.Sprintf("at %s: %s is none of the fields", path, short(m))
		}
	}
	for name, w := range want {
		if _, text := w.(string); text && name[0] != '@' && !found[name] {
			return fmt.Sprintf("at %s: %s of %s is not among the fields", path, name, short(got))
		}
	}
	if members+1 != len(got) {
		return fmt.Sprintf("at %s: %s has names", path, short(got))
	}
	return ""
}

// The comparison finds differences.
func TestUntypedComparer(t *testing.T) {
	parse := func(s string) (v any) {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		require.NoError(t, d.Decode(&v), s)
		return v
	}
	for _, c := range []struct {
		named       bool
		ours, truth string
		same        bool
	}{
		{false, `{"@class":"A","#0":1,"#1":"x"}`, `{"@class":"A","b":"x","a":1}`, true},
		{false, `{"@class":"A","#0":1,"#1":"x"}`, `{"@class":"A","a":"x","b":1}`, false},
		{false, `{"@class":"A","#0":1}`, `{"@class":"A","a":1,"b":1}`, false},
		{false, `{"@class":"A","#0":1,"#1":1}`, `{"@class":"A","a":1}`, false},
		{false, `{"@class":"B","#0":1}`, `{"@class":"A","a":1}`, false},
		{false, `{"@class":"A","#0":4609434218613702656,"#1":1069547520}`, `{"@class":"A","a":1.5,"b":1.5}`, true},
		{false, `{"@class":"A","#0":4609434218613702656}`, `{"@class":"A","a":1.25}`, false},
		{false, `{"@class":"A","#0":1574150400123}`, `{"@class":"A","a":{"@date":"2019-11-19T08:00:00.123Z"}}`, true},
		{false, `{"@class":"A","#0":1574150400124}`, `{"@class":"A","a":{"@date":"2019-11-19T08:00:00.123Z"}}`, false},
		{false, `{"@class":"A","#0":0}`, `{"@class":"A","a":true}`, false},
		{false, `{"@class":"A","#0":97}`, `{"@class":"A","a":"a"}`, true},
		{false, `{"@class":"A","#0":98}`, `{"@class":"A","a":"a"}`, false},
		{false, `{"@class":"A","#0":"RED"}`, `{"@class":"A","a":{"@enum":"C","name":"GREEN"}}`, false},
		{false, `{"@class":"A","#opaque":{"@opaque":3}}`, `{"@class":"A","a":1}`, false},
		{false, `{"@class":"org.dubbowire.rig.edge.Shadow","#0":{"@bytes":"AA=="},"#1":"x"}`, `{"@class":"org.dubbowire.rig.edge.Shadow","a":0,"b":"x"}`, true},
		{false, `{"@class":"org.dubbowire.rig.edge.Shadow","#0":{"@bytes":"AA=="},"#1":"y"}`, `{"@class":"org.dubbowire.rig.edge.Shadow","a":0,"b":"x"}`, false},
		{false, `{"@class":"org.dubbowire.rig.edge.Shadow","#0":{"@bytes":"AHQAAXg="}}`, `{"@class":"org.dubbowire.rig.edge.Shadow","a":0,"b":"x"}`, false},
		{false, `[{"@class":"A","#0":1},{"@ref":"result[0]"}]`, `[{"@class":"A","a":1},{"@class":"A","a":2}]`, false},
		{false, `["a","b"]`, `["b","a"]`, true},
		{false, `["a","a"]`, `["b","a"]`, false},
		{true, `{"@class":"A","a":"2019-11-19 16:00:00"}`, `{"@class":"A","a":{"@date":"2019-11-19T08:00:00Z"}}`, true},
		{true, `{"@class":"A","a":"2019-11-19 16:01:00"}`, `{"@class":"A","a":{"@date":"2019-11-19T08:00:00Z"}}`, false},
		{true, `{"@class":"A","a":1}`, `{"@class":"A","a":2}`, false},
		{true, `{"@class":"A","a":"AQI="}`, `{"@class":"A","a":{"@bytes":"AQM="}}`, false},
		{true, `{"k":1}`, `{"k":1,"l":2}`, false},
		{true, `{"1":"a"}`, `{"@map":[[1,"b"]]}`, false},
	} {
		ours, truth := parse(c.ours), parse(c.truth)
		k := untyped{named: c.named, ours: ours, truth: truth, open: map[[2]uintptr]bool{}}
		assert.Equal(t, c.same, k.compare("", ours, truth) == "", "%s against %s", c.ours, c.truth)
	}
}
