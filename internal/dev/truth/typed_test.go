package truth

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// typedNames are the serializations whose values are read as far as no class of the application is needed. What is read
// is compared with what the sender logged; rules say what these formats leave out.
var typedNames = map[string]*typedRules{
	"compactedjava":      {},
	"kryo":               {},
	"kryo (Kryo 5)":      {},
	"kryo2":              {},
	"kryo2 (Kryo 5)":     {},
	"fst":                {},
	"fury":               {},
	"fury-compatible":    {},
	"protostuff":         {nulls: true},
	"protostuff (id 10)": {nulls: true},
	"avro":               {encoded: true, unnamed: true, fieldless: true},
}

// typedRules are what some of these formats leave out.
type typedRules struct {
	nulls   bool // null elements: their places are not known
	encoded bool // half surrogate pairs: Java's encoder makes question marks of them
	unnamed bool // the classes of exceptions
	// values of classes in which it finds no fields, and null: they take no bytes
	fieldless bool
}

// typed compares the values of one capture.
type typed struct {
	*typedRules
	numbers  map[string]string // of registered classes: by number the name, by name the number
	ordinals map[string]string // of enum constants: by class and ordinal the name, by class and name the ordinal
}

func newTyped() *typed {
	return &typed{numbers: map[string]string{}, ordinals: map[string]string{}}
}

// agree reports whether a stands for b and nothing else, as it did before in this capture.
func agree(seen map[string]string, a, b string) bool {
	for _, p := range [][2]string{{"a " + a, b}, {"b " + b, a}} {
		if was, ok := seen[p[0]]; ok && was != p[1] {
			return false
		}
	}
	seen["a "+a], seen["b "+b] = b, a
	return true
}

// peer is a writer of frames whose numbers of classes and constants are its own.
type peer struct {
	connection int
	kind       string
}

// peer returns the writer of a frame; the zero value where all have the same classes in the same order.
func (p *provenance) peer(f *frame) peer {
	if strings.HasPrefix(p.Name, "skew-") || strings.HasPrefix(p.Name, "two-optimizers-") {
		return peer{f.Connection, f.Kind}
	}
	return peer{}
}

// compareTyped compares arguments, results and exceptions.
func compareTyped(t *testing.T, p *provenance, r *run, pairs map[int64]pair) {
	peers, compared := map[peer]*typed{}, 0
	defer func() {
		if strings.HasPrefix(p.Name, "edge-") && len(p.Serializations) == 1 && typedNames[p.Serializations[0]] != nil {
			assert.Greater(t, compared, 400, "values compared")
		}
	}()
	check := func(what string, f *frame, got, want any) {
		capture := peers[p.peer(f)]
		if capture == nil {
			capture = newTyped()
			peers[p.peer(f)] = capture
		}
		capture.typedRules = typedNames[f.Serialization]
		c := comparer{ours: got, truth: want, typed: capture}
		assert.Empty(t, c.compare("", got, want), "%s\n ours  %s\n truth %s", what, short(got), short(want))
		compared++
	}
	for i := range r.calls {
		c := &r.calls[i]
		if q, ok := pairs[c.RequestFrame]; ok && q.ours.Complete && typedNames[q.ours.Serialization] != nil {
			want := any(q.sent.Arguments)
			if c.Generic && len(q.sent.Arguments) == 3 {
				want = q.sent.Arguments[2]
			}
			if !(c.Generic && len(c.Arguments) == 1 && opaque(c.Arguments[0])) { // the array that holds them was not read
				check(fmt.Sprintf("frame %d %s arguments", c.RequestFrame, c.Method), q.ours, any(c.Arguments), want)
			}
		}
		q, ok := pairs[c.ResponseFrame]
		if !ok || !q.ours.Complete || q.sent.Status != 20 || q.sent.DecodeError != "" || typedNames[q.ours.Serialization] == nil {
			continue
		}
		what := fmt.Sprintf("frame %d answer to %s", c.ResponseFrame, c.Method)
		if q.sent.ResultKind != "exception" {
			check(what, q.ours, c.Result, q.sent.Result)
			continue
		}
		if assert.NotNil(t, c.Exception, what) {
			if c.Exception.Class != nil || !typedNames[q.ours.Serialization].unnamed {
				assert.Equal(t, q.sent.Exception.Class, c.Exception.Class, what)
			}
			if c.Exception.Message != nil || q.ours.Decoded == "full" {
				assert.Equal(t, q.sent.Exception.Message, c.Exception.Message, what)
			}
			compared++
		}
	}
}

// unclassed compares what formats without classes write otherwise than the log; ok is false for everything else.
func (c *comparer) unclassed(path string, got, want any) (diff string, ok bool) {
	differs := fmt.Sprintf("at %s: %s instead of %s", path, short(got), short(want))
	verdict := func(same bool) (string, bool) {
		if same {
			return "", true
		}
		return differs, true
	}
	if c.typed.fieldless && takesNothing(got) {
		return "", true
	}
	switch g := got.(type) {
	case nil:
		if w, list := want.([]any); list && c.full && c.typed.nulls && len(w) == 0 { // neither is on the wire
			return "", true
		}
	case string:
		w, text := want.(string)
		if text && c.typed.encoded {
			return verdict(g == strings.ReplaceAll(w, "\ufffd", "?") || g == w && utf8.RuneCountInString(w) == 1) // a char
		}
	case []any:
		switch w := want.(type) {
		case []any:
			if n := len(g); !c.full && n == len(w)+1 && opaque(g[n-1]) { // the fields that the collection itself has, or nothing of what it holds
				return c.list(path, g[:n-1], w), true
			}
			if n := len(w); c.full && c.typed.nulls && n == len(g)+1 { // a Set.of has an Object where it has room for a second element
				for i, v := range w {
					if m, _ := v.(map[string]any); m["@class"] == "java.lang.Object" {
						return c.list(path, g, append(append([]any(nil), w[:i]...), w[i+1:]...)), true
					}
				}
			}
			if c.typed.nulls && hasNull(w) && !hasNull(g) {
				return c.withoutNulls(path, g, w), true
			}
		case map[string]any:
			if w["@class"] == "java.util.BitSet" {
				return verdict(sameBitSet(g, w["words"]))
			}
		}
	case map[string]any:
		w, _ := want.(map[string]any)
		class, _ := g["@class"].(string)
		switch {
		case c.full && c.typed.nulls && w == nil && want != nil && class != "" && (strings.HasPrefix(class, "java.util.") || class == "org.dubbowire.rig.edge.Unwritable"):
			return "", true // see privateFields
		case !c.full && g["@enum"] != nil && w["@enum"] != nil && g["ordinal"] != nil:
			return verdict(len(g) == 2 && len(w) == 2 && c.typed.class(g["@enum"], w["@enum"]) &&
				agree(c.typed.ordinals, fmt.Sprint(w["@enum"], g["ordinal"]), fmt.Sprint(w["@enum"], w["name"])))
		case !c.full && g["#opaque"] != nil && len(g) == 2 && w["@enum"] != nil: // without classes no constant is told from an object
			name, _, _ := strings.Cut(class, "$")
			return verdict(c.typed.class(class, w["@enum"]) || c.typed.class(name, w["@enum"]))
		case g["@date"] != nil && w["@date"] != nil:
			return verdict(g["@date"] == w["@date"] || sameTime(got, w) || c.full && c.partlyLost(g, w))
		case !c.full && g["#opaque"] != nil && len(g) == 2 && class != "" && (w == nil || w["@class"] == nil):
			return verdict(nothingRead(class, want))
		case class == "java.lang.Class" && w["@class"] == class && g["value"] != nil:
			return verdict(len(g) == 2 && c.typed.class(g["value"], w["value"]))
		case !c.full && class == "java.lang.Class" && w["@class"] == class && g["#opaque"] != nil:
			return verdict(len(g) == 2)
		case !c.full && strings.HasPrefix(class, "#") && w["@class"] != nil:
			if !c.typed.class(g["@class"], w["@class"]) {
				return differs, true
			}
			named := map[string]any{}
			for k, v := range g {
				named[k] = v
			}
			named["@class"] = w["@class"]
			return c.contents(path, named, want), true
		}
	}
	return "", false
}

// ownContainers are the application's own collections and maps, which the log describes by what they hold.
var ownContainers = map[string]bool{
	"org.dubbowire.rig.models.Names": true, "org.dubbowire.rig.models.Tags": true, "org.dubbowire.rig.models.Index": true,
	"org.dubbowire.rig.models.Sorted": true, "org.dubbowire.rig.models.Sequence": true,
}

// nothingRead reports whether an object of that class, of which nothing was read, can be what the log has a list, a map or
// a text for.
func nothingRead(class string, want any) bool {
	switch want := want.(type) {
	case nil: // what protostuff makes of these where it reads them has nothing to describe
		return class == "java.util.EnumMap" || class == "java.util.RegularEnumSet"
	case string: // the log's own text for what cannot be written
		return want == "unwritable" && strings.HasSuffix(class, ".Unwritable")
	case []any:
		return isJDK(class) || strings.HasSuffix(class, "[]") || strings.HasPrefix(class, "#") || ownContainers[class]
	case map[string]any:
		return isJDK(class) || strings.HasPrefix(class, "#") || ownContainers[class]
	}
	return false
}

// takesNothing reports whether a value was read that has no bytes.
func takesNothing(got any) bool {
	m, _ := got.(map[string]any)
	return m["@opaque"] == json.Number("0")
}

// keyAt returns the key of the map entry that a reference leads to: a path says which entry, not which half of it.
func keyAt(root, ref any) (key any, ok bool) {
	m, _ := ref.(map[string]any)
	path, _ := m["@ref"].(string)
	open := strings.LastIndexByte(path, '[')
	if open < 0 {
		return nil, false
	}
	n, err := strconv.Atoi(strings.TrimSuffix(path[open+1:], "]"))
	of, found := walk(root, path[:open])
	holder, _ := of.(map[string]any)
	entries, _ := holder["@map"].([]any)
	if err != nil || !found || n >= len(entries) {
		return nil, false
	}
	return entries[n].([]any)[0], true
}

// class reports whether a class is the same, by name or by a number that always stands for it.
func (t *typed) class(got, want any) bool {
	g, w := fmt.Sprint(got), fmt.Sprint(want)
	return g == w || strings.HasPrefix(g, "#") && agree(t.numbers, g, w)
}

func hasNull(list []any) bool {
	for _, v := range list {
		if v == nil {
			return true
		}
	}
	return false
}

// withoutNulls compares a list whose null elements were not written. That there were some, an array says by its length: an
// opaque element of no bytes.
func (c *comparer) withoutNulls(path string, got, want []any) string {
	if n := len(got); n > 0 {
		if m, _ := got[n-1].(map[string]any); m["@opaque"] == json.Number("0") {
			got = got[:n-1]
		}
	}
	i := 0
	for _, w := range want {
		if w == nil {
			continue
		}
		if i == len(got) {
			return fmt.Sprintf("at %s: %d elements, and nothing for %s", path, len(got), short(w))
		}
		if diff := c.compare(fmt.Sprintf("%s[%d]", path, i), got[i], w); diff != "" {
			return diff
		}
		i++
	}
	if i < len(got) {
		return fmt.Sprintf("at %s: %d elements instead of %d", path, len(got), i)
	}
	return ""
}

// sameBitSet compares bits with words of 64.
func sameBitSet(bits []any, words any) bool {
	list, _ := words.([]any)
	for i := range max(len(bits), 64*len(list)) {
		want := false
		if i/64 < len(list) {
			n, _ := strconv.ParseInt(fmt.Sprint(list[i/64]), 10, 64)
			want = uint64(n)>>(i%64)&1 == 1
		}
		if (i < len(bits) && bits[i] == true) != want {
			return false
		}
	}
	return true
}

// What these formats leave out may be missing, nothing else.
func TestTypedComparer(t *testing.T) {
	every := &typedRules{nulls: true, encoded: true, unnamed: true}
	none := &typedRules{}
	for _, c := range []struct {
		rules       *typedRules
		ours, truth string
		same        bool
	}{
		{none, `[1,{"@class":"a.B","#opaque":{"@opaque":3}}]`, `[1,{"@class":"a.B","x":1},2]`, true},
		{none, `[2,{"@class":"a.B","#opaque":{"@opaque":3}}]`, `[1,{"@class":"a.B","x":1},2]`, false},
		{none, `[1,{"@class":"a.C","#opaque":{"@opaque":3}}]`, `[1,{"@class":"a.B","x":1},2]`, false},
		{none, `[1,{"@class":"a.B","#opaque":{"@opaque":3}},3,4]`, `[1,{"@class":"a.B","x":1},2]`, false},
		{none, `[1,2]`, `[1,2,3]`, false},
		{none, `[{"@opaque":3},2]`, `[1,2,3]`, false},
		{none, `[{"@class":"a.B","x":1,"#opaque":{"@opaque":3}}]`, `[{"@class":"a.B","x":2,"y":3}]`, false},
		{none, `[{"@class":"a.B","z":1,"#opaque":{"@opaque":3}}]`, `[{"@class":"a.B","x":1,"y":3}]`, false},
		{none, `[{"@class":"a.B","#opaque":{"@opaque":3}}]`, `[null]`, false},
		{none, `[{"k":1,"n":{"@class":"a.B","#opaque":{"@opaque":3}}}]`, `[{"@map":[["k",1],["n",{"@class":"a.B"}],["@o",2]]}]`, true},
		{none, `[{"k":2,"n":{"@class":"a.B","#opaque":{"@opaque":3}}}]`, `[{"@map":[["k",1],["n",{"@class":"a.B"}],["@o",2]]}]`, false},
		{none, `[{"k":1}]`, `[{"@map":[["k",1],["@o",2]]}]`, false},
		{none, `[{"@class":"java.util.PriorityQueue","#opaque":{"@opaque":3}}]`, `[[1]]`, true},
		{none, `[{"@class":"a.B","#opaque":{"@opaque":3}}]`, `[[1]]`, false},
		{none, `[{"@class":"java.util.PriorityQueue","#opaque":{"@opaque":3}}]`, `["x"]`, false},
		{none, `[{"@enum":"a.E","ordinal":0},{"@enum":"a.E","ordinal":1}]`, `[{"@enum":"a.E","name":"X"},{"@enum":"a.E","name":"Y"}]`, true},
		{none, `[{"@enum":"a.E","ordinal":0},{"@enum":"a.E","ordinal":0}]`, `[{"@enum":"a.E","name":"X"},{"@enum":"a.E","name":"Y"}]`, false},
		{none, `[{"@enum":"a.E","ordinal":0},{"@enum":"a.E","ordinal":1}]`, `[{"@enum":"a.E","name":"X"},{"@enum":"a.E","name":"X"}]`, false},
		{none, `[{"@enum":"a.F","ordinal":0}]`, `[{"@enum":"a.E","name":"X"}]`, false},
		{none, `[{"@class":"a.E","#opaque":{"@opaque":1}}]`, `[{"@enum":"a.E","name":"X"}]`, true},
		{none, `[{"@class":"a.F","#opaque":{"@opaque":1}}]`, `[{"@enum":"a.E","name":"X"}]`, false},
		{none, `[{"@class":"#7","x":1},{"@class":"#7","x":2}]`, `[{"@class":"a.B","x":1},{"@class":"a.B","x":2}]`, true},
		{none, `[{"@class":"#7","x":1},{"@class":"#7","x":2}]`, `[{"@class":"a.B","x":1},{"@class":"a.C","x":2}]`, false},
		{none, `[{"@class":"#7","x":1},{"@class":"#8","x":2}]`, `[{"@class":"a.B","x":1},{"@class":"a.B","x":2}]`, false},
		{none, `[{"@class":"#7","x":1}]`, `[{"@class":"a.B","x":2}]`, false},
		{none, `[{"@class":"java.lang.Class","value":"#7"}]`, `[{"@class":"java.lang.Class","value":"a.B"}]`, true},
		{none, `[{"@class":"java.lang.Class","value":"a.C"}]`, `[{"@class":"java.lang.Class","value":"a.B"}]`, false},
		{none, `[{"@date":"2019-11-19T16:00:01.500[Asia/Tokyo]"}]`, `[{"@date":"2019-11-19T16:00:01.500+09:00[Asia/Tokyo]"}]`, true},
		{none, `[{"@date":"2019-11-19T16:00:02.500[Asia/Tokyo]"}]`, `[{"@date":"2019-11-19T16:00:01.500+09:00[Asia/Tokyo]"}]`, false},
		{none, `[[true,false,true]]`, `[{"@class":"java.util.BitSet","words":[5]}]`, true},
		{none, `[[true,true,true]]`, `[{"@class":"java.util.BitSet","words":[5]}]`, false},
		{none, `[[true]]`, `[{"@class":"java.util.BitSet","words":[5]}]`, false},
		{none, `[{"@map":[[1,"i"],["l",{"@ref":"args[0][0]"}]]}]`, `[{"@map":[[1,"i"],["l",1]]}]`, true},
		{none, `[{"@map":[[1,"i"],["l",{"@ref":"args[0][0]"}]]}]`, `[{"@map":[[1,"i"],["l",2]]}]`, false},
		{none, `[{"@map":[["n",5],["@l",{"@ref":"args[0].n"}]]}]`, `[{"@map":[["n",5],["@l",6]]}]`, false},
		{none, `["a?b"]`, `["a\ufffdb"]`, false},
		{every, `["a?b"]`, `["a\ufffdb"]`, true},
		{every, `["a?b"]`, `["a!b"]`, false},
		{none, `[[1,2]]`, `[[1,null,2]]`, false},
		{every, `[[1,2]]`, `[[1,null,2]]`, true},
		{every, `[[1,2,{"@opaque":0}]]`, `[[1,null,2]]`, true},
		{every, `[[1,3]]`, `[[1,null,2]]`, false},
		{every, `[[1]]`, `[[1,null,2]]`, false},
		{every, `[[1,2,3]]`, `[[1,null,2]]`, false},
		{every, `[null,1]`, `[null,2]`, false},
	} {
		ours, truth := parsed(t, c.ours), parsed(t, c.truth)
		capture := newTyped()
		capture.typedRules = c.rules
		k := comparer{ours: ours, truth: truth, typed: capture}
		assert.Equal(t, c.same, k.compare("", ours, truth) == "", "%s against %s", c.ours, c.truth)
	}
}
