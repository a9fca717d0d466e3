package truth

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
)

// shown is how many differences of a capture are printed.
var shown = map[bool]int{false: 8, true: 1000}[os.Getenv("CAPTURES") != ""]

// values compares what calls prints with the values that the receiver logged (where it could decode them; else the
// sender's).
func values(t *testing.T, p *provenance, r *run, pairs map[int64]pair) {
	failures := 0
	// Attachments of text alone are found in every serialization, but for some calls of kryo2, whose values have no class.
	find := func(what, serialization string, got any) {
		if m, _ := got.(map[string]any); (opaque(got) || m["#opaque"] != nil) && serialization != "kryo2" {
			t.Errorf("%s: not found: %s", what, short(got))
		}
	}
	var arguments [2]any // of the request whose attachments are compared
	check := func(what, serialization string, got, want any, full bool, others ...any) {
		c := comparer{ours: got, truth: want, full: full, declared: declared[serialization], caucho: serialization == "native-hessian", arguments: arguments}
		diff := c.compare("", got, want)
		for _, w := range others {
			c := comparer{ours: got, truth: w, full: full, declared: declared[serialization], arguments: arguments}
			if diff != "" && c.compare("", got, w) == "" {
				diff = ""
			}
		}
		if diff != "" {
			failures++
			if failures <= shown {
				t.Errorf("%s: %s\n ours  %s\n truth %s", what, diff, short(got), short(want))
			}
		}
	}
	for i := range r.calls {
		c := &r.calls[i]
		q, ok := pairs[c.RequestFrame]
		if ok && q.sent.Unknown != nil { // a layout that nobody knows
			assert.Equal(t, "envelope", q.ours.Decoded)
			assert.Len(t, c.Arguments, 1)
			assert.True(t, opaque(c.Arguments[0]))
			continue
		}
		if ok && full[q.ours.Serialization] && q.ours.Complete {
			ours, arguments := any(c.Arguments), func(l *logged) any { return l.Arguments }
			if l := q.truth(); c.Generic && len(l.Arguments) == 3 { // references count from the arguments of $invoke
				ours = []any{nil, nil, c.Arguments}
				arguments = func(l *logged) any { return []any{nil, nil, l.Arguments[2]} }
			}
			name := fmt.Sprintf("frame %d %s", c.RequestFrame, q.ours.Method)
			var others []any
			for _, l := range q.others(p) {
				if len(l.Arguments) == len(q.sent.Arguments) {
					others = append(others, arguments(l))
				}
			}
			check(name+" arguments", q.ours.Serialization, ours, arguments(q.truth()), true, others...)
		}
		if ok && attached(&q) {
			find(fmt.Sprintf("frame %d %s %s attachments", c.RequestFrame, q.ours.Serialization, q.ours.Method), q.ours.Serialization, c.Attachments)
			arguments = [2]any{any(c.Arguments), any(q.sent.Arguments)}
			check(fmt.Sprintf("frame %d %s %s attachments", c.RequestFrame, q.ours.Serialization, q.ours.Method), q.ours.Serialization, c.Attachments, q.sent.Attachments, full[q.ours.Serialization])
			arguments = [2]any{}
		}
		if q, ok := pairs[c.ResponseFrame]; ok && full[q.ours.Serialization] && q.ours.Complete && q.sent.Status == 20 {
			l := q.truth()
			name := fmt.Sprintf("frame %d answer to %s", c.ResponseFrame, c.Method)
			switch l.ResultKind {
			case "exception":
				if assert.NotNil(t, c.Exception, name) && l.Exception != nil {
					assert.Equal(t, l.Exception.Class, c.Exception.Class, name)
					assert.Equal(t, l.Exception.Message, c.Exception.Message, name)
				}
			default:
				var others []any
				for _, l := range q.others(p) {
					others = append(others, l.Result)
				}
				check(name+" result", q.ours.Serialization, c.Result, l.Result, true, others...)
			}
		}
		if q, ok := pairs[c.ResponseFrame]; ok && attached(&q) && q.sent.Status == 20 && q.sent.Attachments != nil {
			find(fmt.Sprintf("frame %d answer to %s %s attachments", c.ResponseFrame, q.ours.Serialization, c.Method), q.ours.Serialization, c.ResponseAttachments)
			check(fmt.Sprintf("frame %d answer to %s %s attachments", c.ResponseFrame, q.ours.Serialization, c.Method), q.ours.Serialization, c.ResponseAttachments, q.sent.Attachments, full[q.ours.Serialization])
		}
	}
}

// attached reports whether the frame's attachments are compared: avro writes none; objects among them need classes in
// most formats, and change their form in others.
func attached(q *pair) bool {
	if !q.ours.Complete || q.ours.Serialization == "avro" || q.ours.Serialization == "custom" {
		return false
	}
	if m, ok := q.sent.Attachments.(map[string]any); ok && !full[q.ours.Serialization] {
		for _, v := range m {
			if _, text := v.(string); !text {
				return false
			}
		}
	}
	return true
}

// truth is what the receiver made of the bytes; where it did not, what the sender wrote. The receiver of fastjson2 loses
// more than the wire does.
func (q *pair) truth() *logged {
	if declared[q.ours.Serialization] {
		return q.sent
	}
	if r := q.received; r != nil && r.DecodeError == "" && (r.Arguments != nil || r.ResultKind != "") {
		return r
	}
	return q.sent
}

// others is what counts besides: Dubbo 3.3 reads some floats back as other numbers; a receiver of fastjson2 keeps the calendar of
// Gregor also for dates before it, as the wire does.
func (q *pair) others(p *provenance) []*logged {
	switch {
	case declared[q.ours.Serialization] && q.received != nil && q.received.DecodeError == "":
		return []*logged{q.received}
	case strings.Contains(p.Dubbo, "3.3."):
		return []*logged{q.sent}
	}
	return nil
}

func short(v any) string {
	b, _ := json.Marshal(v)
	if len(b) > 400 {
		b = append(b[:400], "..."...)
	}
	return string(b)
}

// comparer compares two value trees; references are followed on both sides.
type comparer struct {
	ours, truth any
	arguments   [2]any              // ours and the log's, where attachments are compared: they may refer to them
	full        bool                // nothing may be opaque
	declared    bool                // what is declared is not on the wire
	fst1        bool                // nothing of java.time is written
	caucho      bool                // written by the original Hessian
	typed       *typed              // what a format that needs classes leaves out
	open        map[[2]uintptr]bool // pairs of containers that were met, against cycles
}

// compare returns "" or the first difference.
func (c *comparer) compare(path string, got, want any) string {
	diff := c.values(path, got, want)
	if key, ok := keyAt(c.ours, got); ok && diff != "" {
		return c.values(path, key, want)
	}
	return diff
}

func (c *comparer) values(path string, got, want any) string {
	return c.pair(path, got, want, c.contents)
}

// pair compares two values by their contents, once.
func (c *comparer) pair(path string, got, want any, contents func(path string, got, want any) string) string {
	got, want = c.follow(c.ours, got, c.arguments[0]), c.follow(c.truth, want, c.arguments[1])
	if key, ok := pairOf(got, want); ok {
		if c.open[key] {
			return "" // compared already, or being compared: a cycle
		}
		if c.open == nil {
			c.open = map[[2]uintptr]bool{}
		}
		c.open[key] = true
		diff := contents(path, got, want)
		if diff != "" {
			delete(c.open, key)
		}
		return diff
	}
	return contents(path, got, want)
}

// withoutTime reports whether got is what FST 1 writes of a value of java.time: nothing but the class that stands for it.
func withoutTime(got, want any) bool {
	g, _ := got.(map[string]any)
	w, _ := want.(map[string]any)
	return len(g) == 1 && g["@class"] == "java.time.Ser" && (has(w, "@date") || strings.HasPrefix(fmt.Sprint(w["@class"]), "java.time."))
}

func (c *comparer) contents(path string, got, want any) string {
	if lost(got) || opaque(got) && !c.full {
		return ""
	}
	if w, is := want.(map[string]any); is && (c.full || c.typed != nil) {
		if diff, is := c.standIn(path, got, w); is {
			return diff
		}
	}
	if c.typed != nil {
		if diff, is := c.unclassed(path, got, want); is {
			return diff
		}
	}
	if c.fst1 && withoutTime(got, want) {
		return ""
	}
	switch w := want.(type) {
	case nil:
		if got != nil {
			return fmt.Sprintf("at %s: %s instead of null", path, short(got))
		}
		return ""
	case json.Number:
		return c.number(path, got, w)
	case []any:
		return c.list(path, got, w)
	case map[string]any:
		g, ok := got.(map[string]any)
		if c.declared {
			if diff, is := c.boxed(path, got, w); is {
				return diff
			}
			if constant(got, w) || sameTime(got, w) {
				return ""
			}
		}
		if !ok {
			return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
		}
		return c.object(path, g, w)
	}
	if got != want {
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	return ""
}

// pairOf identifies two containers by where they lie.
func pairOf(got, want any) (key [2]uintptr, ok bool) {
	for i, v := range []any{got, want} {
		switch v := v.(type) {
		case map[string]any:
			key[i] = reflect.ValueOf(v).Pointer()
		case []any:
			key[i] = reflect.ValueOf(v).Pointer()
		default:
			return key, false
		}
	}
	return key, true
}

// follow replaces {"@ref": path} by what it means; arguments are the others that a path may begin in.
func (c *comparer) follow(root, v any, arguments ...any) any {
	for range 8 {
		m, ok := v.(map[string]any)
		if !ok || len(m) != 1 {
			return v
		}
		ref, ok := m["@ref"].(string)
		if !ok || strings.Contains(ref, `..."]`) { // a key that is cut
			return v
		}
		from := root
		if len(arguments) > 0 && arguments[0] != nil && strings.HasPrefix(ref, "args[") {
			from = arguments[0]
		}
		target, ok := walk(from, ref)
		if !ok {
			return v
		}
		v = target
	}
	return v
}

// walk finds the value at a path like args[0].friends[1] below root (which stands for args, result or attachments).
func walk(root any, path string) (any, bool) {
	v := root
	i := strings.IndexAny(path, ".[")
	if i < 0 {
		return wrap(v), true
	}
	path = path[i:]
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			name, rest, ok := quotedName(path[2:])
			path = rest
			m, isMap := v.(map[string]any)
			if !ok || !isMap {
				return nil, false
			}
			v, ok = member(m, name)
			if !ok {
				return nil, false
			}
		case path[0] == '[':
			end := strings.IndexByte(path, ']')
			n, err := strconv.Atoi(path[1:end])
			path = path[end+1:]
			if m, ok := v.(map[string]any); ok {
				v = m["@map"]
				if l, ok := v.([]any); ok && err == nil && n < len(l) {
					v = l[n].([]any)[1]
					continue
				}
				if v, ok = m[""]; ok { // a key without a letter has the number of its entry
					continue
				}
			}
			l, ok := v.([]any)
			if !ok || err != nil || n >= len(l) {
				return nil, false
			}
			v = l[n]
		default:
			path = path[1:]
			end := strings.IndexAny(path, ".[")
			if strings.HasPrefix(path, "#key[") || strings.HasPrefix(path, "#value[") {
				end = strings.IndexByte(path, ']') + 1
			}
			if end < 0 {
				end = len(path)
			}
			m, ok := v.(map[string]any)
			if !ok {
				return nil, false
			}
			v, ok = member(m, path[:end])
			if !ok {
				return nil, false
			}
			path = path[end:]
		}
	}
	return wrap(v), true
}

// quotedName returns the name before the next quotation mark and bracket, and what follows. The log escapes only quotation marks and
// backslashes.
func quotedName(s string) (name, rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			name, err := strconv.Unquote(`"` + s[:i] + `"`)
			if err != nil {
				name = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(s[:i])
			}
			rest, ok = strings.CutPrefix(s[i+1:], "]")
			return name, rest, ok
		}
	}
	return "", "", false
}

// member returns what a name stands for, also in a map that is printed as entries since another key could not be a name.
func member(m map[string]any, name string) (v any, ok bool) {
	if v, ok = m[name]; ok {
		return v, true
	}
	if half, n, ok := strings.Cut(name, "["); ok && (half == "#key" || half == "#value") { // of the log: half of an entry
		entries, _ := m["@map"].([]any)
		i, err := strconv.Atoi(strings.TrimSuffix(n, "]"))
		if err != nil || i >= len(entries) {
			return nil, false
		}
		return entries[i].([]any)[map[string]int{"#key": 0, "#value": 1}[half]], true
	}
	entries, _ := m["@map"].([]any)
	for _, e := range entries {
		if entry := e.([]any); entry[0] == name {
			return entry[1], true
		}
	}
	return nil, false
}

func wrap(v any) any {
	if _, ok := v.(map[string]any); ok {
		return v
	}
	if v == nil {
		return map[string]any{}
	}
	return v
}

func (c *comparer) number(path string, got any, want json.Number) string {
	n, ok := got.(json.Number)
	if ok && (n == want || sameFloat(n, want)) {
		return ""
	}
	return fmt.Sprintf("at %s: %s instead of %s", path, short(got), want)
}

// sameFloat: widths of floating point numbers are lost on the wire, so 0.1f comes as the double nearest to it.
func sameFloat(a, b json.Number) bool {
	x, err1 := a.Float64()
	y, err2 := b.Float64()
	if err1 != nil || err2 != nil {
		return false
	}
	if x == y {
		return math.Abs(x) < 1<<53 || strings.ContainsAny(string(a)+string(b), ".eE")
	}
	return float32(x) == float32(y) && strings.ContainsAny(string(b), ".eE")
}

func (c *comparer) list(path string, got any, want []any) string {
	if s, ok := got.(string); ok && sameChars(s, want) {
		return ""
	}
	g, ok := got.([]any)
	if !ok || len(g) != len(want) && !(c.stopped(g) && len(g) < len(want)) {
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	first := ""
	for i := range g {
		if first = c.compare(fmt.Sprintf("%s[%d]", path, i), g[i], want[i]); first != "" {
			break
		}
	}
	if first == "" {
		return ""
	}
	// A set has no order.
	if strings.Join(canonical(g), "\n") == strings.Join(canonical(want), "\n") {
		return ""
	}
	return first
}

// sameChars: a char[] is a string on the wire. In the log the halves of a pair are two characters that UTF-8 has no form for; of
// one that stands alone, Java's encoder makes a question mark.
func sameChars(s string, want []any) bool {
	units := utf16.Encode([]rune(s))
	if len(units) != len(want) {
		return false
	}
	for i, u := range units {
		if got := string(utf16.Decode([]uint16{u})); any(got) != want[i] && !(got == "?" && want[i] == "\ufffd") {
			return false
		}
	}
	return true
}

func canonical(list []any) []string {
	out := make([]string, len(list))
	for i, v := range list {
		b, _ := json.Marshal(v)
		out[i] = string(b)
	}
	sort.Strings(out)
	return out
}

func (c *comparer) object(path string, got, want map[string]any) string {
	if pairs, ok := want["@map"].([]any); ok {
		return c.pairs(path, got, pairs)
	}
	if pairs, ok := got["@map"].([]any); ok && c.stopped(got) && len(pairs) == 0 {
		return "" // begun, and not even the first key was read
	}
	if _, ok := want["value"].(string); ok && len(want) == 2 && isHandle(got, want) {
		// The log has the text of a JDK object, the wire a handle with its fields: the class is what can be compared.
		return ""
	}
	if indistinct(got, want) || c.partlyLost(got, want) {
		return ""
	}
	for k, w := range want {
		if shadowed(want, k) || k == "@class" && isHandle(got, want) {
			continue
		}
		g, ok := got[k]
		if !ok && c.declared && (k == "@class" || isDefault(w)) {
			continue
		}
		if !ok && c.stopped(got) {
			continue
		}
		if !ok {
			return fmt.Sprintf("at %s: %q is missing", path, k)
		}
		if diff := c.compare(path+"."+k, g, w); diff != "" {
			return diff
		}
	}
	for k := range got {
		if k == "@class" && want[k] == nil {
			continue // a class that the receiver does not have becomes a map there
		}
		if _, ok := want[k]; !ok && !(k == "#opaque" && !c.full) {
			return fmt.Sprintf("at %s: %q is too much", path, k)
		}
	}
	return ""
}

// lost: what cannot be compared. hessian-lite 3.2 writes List.of, Set.of and Map.of as an object that has only a tag; the content is not on the
// wire.
func lost(got any) bool {
	m, ok := got.(map[string]any)
	if ok && (m["#custom"] != nil || m["@class"] == "java.util.BitSet" || m["@class"] == "java.util.Collections$CopiesList") {
		return true // what writeObject wrote, or a JDK class by its private fields
	}
	if ok && m["@class"] == "java.math.BigDecimal" {
		return m["intVal"] == nil // caucho's hessian writes the JDK's fields, of which the value may be empty
	}
	return ok && m["@class"] == "java.util.CollSer" && len(m) == 2
}

// shadowed: a field that a subclass declares again is on the wire twice under one name, of which the parser of this test
// keeps the last.
func shadowed(want map[string]any, name string) bool {
	if strings.Contains(name, "#") {
		return true
	}
	for k := range want {
		if strings.HasSuffix(k, "#"+name) {
			return true
		}
	}
	return false
}

// partlyLost: Hessian2 dates have milliseconds, a Timestamp's further digits are lost; and so on.
func (c *comparer) partlyLost(got, want map[string]any) bool {
	if d, _ := want["@decimal"].(string); c.caucho && got["@decimal"] != nil && (strings.HasPrefix(d, "0E") || undigited.MatchString(d) && scale(d) == scale(fmt.Sprint(got["@decimal"]))) {
		return true // caucho's reader drops the digits of a BigDecimal that are on the wire, and keeps the scale
	}
	g, _ := got["@date"].(string)
	w, _ := want["@date"].(string)
	digits, _ := strings.CutSuffix(g, "Z")
	return g != "" && strings.HasSuffix(w, "Z") && strings.Contains(digits, ".") && strings.HasPrefix(w, digits)
}

var undigited = regexp.MustCompile(`^0(\.0+)?$`)

// scale is the number of decimal places.
func scale(decimal string) int {
	_, fraction, _ := strings.Cut(decimal, ".")
	return len(fraction)
}

// opaque: measured, not decoded.
func opaque(got any) bool {
	m, ok := got.(map[string]any)
	return ok && m["@opaque"] != nil
}

// indistinct: Hessian2 writes an enum constant as an object with one field, name. An object of a class with just such a
// field is the same bytes; no reader without the class can tell them apart. These classes look like the other kind.
func indistinct(got, want map[string]any) bool {
	name, text := want["name"].(string)
	if len(want) != 2 || len(got) != 2 || !text || got["name"] != any(name) {
		return false
	}
	class, _ := want["@class"].(string)
	enum, _ := want["@enum"].(string)
	return class != "" && got["@enum"] == any(class) && likeEnums[class[strings.LastIndexByte(class, '.')+1:]] ||
		enum != "" && got["@class"] == any(enum) && likeBeans[enum]
}

var (
	likeEnums = map[string]bool{"OnlyName": true, "Odd$Name": true, "Records$Named": true} // whose name is in capitals
	likeBeans = map[string]bool{"q.T$E": true, "org.dubbowire.rig.zoo.Chat$Mood": true}    // some of whose constants are not
)

// isHandle reports whether ours is the handle object that hessian writes in place of a JDK object, or a JDK object whose
// text the log has.
func isHandle(got, want map[string]any) bool {
	ours, _ := got["@class"].(string)
	java, _ := want["@class"].(string)
	switch {
	case java == "java.lang.Class":
		return ours == java && got["name"] == want["value"]
	case java == "java.time.ZoneRegion", java == "java.time.ZoneOffset" && got["zoneId"] != nil:
		return got["zoneId"] == want["value"]
	case ours == java && (strings.HasPrefix(java, "java.") || strings.HasPrefix(java, "sun.")):
		return true // the JDK's private fields are on the wire
	}
	base := ours[strings.LastIndexByte(ours, '.')+1:]
	base, ok := strings.CutSuffix(base, "Handle")
	return ok && strings.HasSuffix(java, base)
}

// pairs compares maps with keys that are not strings, in any order.
func (c *comparer) pairs(path string, got map[string]any, want []any) string {
	g, ok := got["@map"].([]any)
	if !ok && c.stopped(got) { // the entries read before the first whose key is not a plain string
		for k, v := range got {
			g = append(g, []any{k, v})
		}
		ok = true
	}
	if !ok || len(g) != len(want) && !(c.stopped(got) && len(g) < len(want)) {
		return fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	}
	used := make([]bool, len(want))
	for _, e := range g {
		found := false
		for j, w := range want {
			if !used[j] && c.compare(path, e.([]any)[0], w.([]any)[0]) == "" && c.compare(path, e.([]any)[1], w.([]any)[1]) == "" {
				used[j], found = true, true
				break
			}
		}
		if !found {
			return fmt.Sprintf("at %s: no such entry %s", path, short(e))
		}
	}
	return ""
}
