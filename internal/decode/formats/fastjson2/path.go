package fastjson2

import (
	"encoding/binary"
	"strconv"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/decode/jdk"
)

// paths are the paths of a document's values as the writer forms them. They differ from the values' positions in three cases:
//
//   - Before 2.0.63 the elements of a collection of several that is not a list, sorted or linked have no path: values in them
//     have the path of the collection. The elements of a Map.Entry and an AtomicReferenceArray never have one.
//   - A HashSet in a field declared as Set has no class on the wire. A list without a class is taken for a list first.
//   - Since 2.0.56 the writer that is generated for a public class does not go back after a field that holds
//     Collections.emptyList() or emptySet(): later fields have paths as if they were inside that field, and values after the
//     object as if they were inside the object. Throwables have another writer.
//
// The wire tells neither the release nor whether a class is public, so several ways to form paths are tried.
type paths struct {
	way
	met  way // the differences that the document has so far
	seen int // the next node to visit

	steps map[step]int32 // to numbers of paths; the root's is 0
	loose map[step]int32 // steps that hold if a list is a set
	up    []int32        // by number of a path, its parent
	first []int32        // by number of a path, an index into value, -1 for none
	value []candidate

	at   int32 // the path that the writer is at
	open []level
	work int // the cost of comparing containers
}

// way is a way in which writers form paths.
type way struct {
	drift bool // it does not go back after empty collections
	index bool // elements of every collection have a path
}

// ways are the ways to try, the most likely one first.
var ways = [...]way{{drift: true}, {drift: true, index: true}, {}, {index: true}}

// step leads from a path to a longer one, by name or, with index 0 and up, by index.
type step struct {
	from, index int32
	name        string
}

const (
	byName    = -1 // index of a step by name
	byNothing = -2 // index of the step to an entry whose key does not tell its name
	ambiguous = -2 // stands for the number of a path that is not unique
)

// candidate is a value with a path; next is the previous candidate with the same path.
type candidate struct{ node, next int32 }

// level is a container that the writer is in.
type level struct {
	node, path int32
	pushed     bool // it has a path of its own
	stays      bool // the writer does not go back after it
}

// Whether the elements of a list have paths (Num of its node).
const (
	listOrdered   = iota
	listUnclassed // not known, since it has no class
	listUncounted
	listNever
	listEmpty // Collections.emptyList() or emptySet()
)

const (
	keptSteps     = 1 << 12
	maxCandidates = 16
	maxWork       = 1 << 22
)

func (p *paths) forget(root int, w way) {
	if len(p.steps) > keptSteps {
		*p = paths{}
	}
	clear(p.steps)
	clear(p.loose)
	p.up, p.first, p.value, p.open = p.up[:0], p.first[:0], p.value[:0], p.open[:0]
	p.way, p.met, p.seen, p.at, p.work = w, way{}, root, 0, 0
}

// listKind returns whether the elements of an array of this class and count have paths.
func listKind(class *symbol, count int) int64 {
	switch {
	case class == nil:
		return listUnclassed
	case class.text == "java.util.Collections$EmptyList" || class.text == "java.util.Collections$EmptySet":
		return listEmpty
	case strings.HasSuffix(class.text, "Entry"), strings.HasSuffix(class.text, "KeyValueHolder"), strings.HasSuffix(class.text, "AtomicReferenceArray"):
		return listNever
	case count < 2 || !isJDK(class.text) || class.text == "LinkedHashSet":
		return listOrdered
	}
	for _, s := range []string{"TreeSet", "SkipListSet", "SortedSet", "NavigableSet"} {
		if strings.HasSuffix(class.text, s) {
			return listOrdered
		}
	}
	for _, s := range []string{"Set", "SetN", "Set12", "Queue", "Deque", "SetView", "Values", "ValuesView", "Collection", "SetFromMap"} {
		if strings.HasSuffix(class.text, s) {
			return listUncounted
		}
	}
	if class.text == "List" { // the values of a map
		return listUncounted
	}
	return listOrdered
}

// look visits the nodes since the last call, up to a value in node inside that is not recorded yet.
func (p *paths) look(t *decode.Tree, inside int) {
	if p.steps == nil {
		p.steps, p.loose = make(map[step]int32), make(map[step]int32)
	}
	for ; p.seen < len(t.Nodes); p.seen++ {
		i := int32(p.seen)
		n := &t.Nodes[i]
		if len(p.open) == 0 {
			p.up, p.first = append(p.up, 0), append(p.first, -1)
			p.register(0, n, i)
			p.open = append(p.open, level{node: i})
			continue
		}
		if n.Kind == decode.Overhead || n.Label == decode.Whole {
			continue
		}
		for p.open[len(p.open)-1].node != n.Parent {
			p.leave()
		}
		p.enter(t, n, i)
	}
	for len(p.open) > 1 && p.open[len(p.open)-1].node != int32(inside) {
		p.leave()
	}
}

// leave ends the container opened last.
func (p *paths) leave() {
	l := p.open[len(p.open)-1]
	p.open = p.open[:len(p.open)-1]
	if l.pushed && !l.stays {
		p.at = p.up[p.at]
	}
}

func (p *paths) enter(t *decode.Tree, n *decode.Node, i int32) {
	list := t.Nodes[n.Parent].Num
	to, counted := p.at, true
	switch n.Label {
	case decode.ByField:
		to = p.step(step{p.at, byName, n.Name})
	case decode.ByIndex:
		p.met.index = p.met.index || list == listUncounted
		if counted = list != listNever && (list != listUncounted || p.index); counted {
			to = p.step(step{from: p.at, index: n.Index})
		}
	case decode.ByKey:
		to = p.step(step{p.at, n.Index, "key"})
	case decode.ByEntry:
		to = p.entry(t, n, i)
	}
	if counted {
		p.register(to, n, i)
	}
	switch n.Kind {
	case decode.List, decode.Map, decode.Object:
		l := level{node: i, path: to, pushed: counted}
		if p.drift && n.Kind == decode.List && n.Num == listEmpty && n.Label == decode.ByField && n.Name != "suppressedExceptions" {
			l.stays, p.met.drift = true, true
		}
		p.open = append(p.open, l)
		p.at = to
	}
}

// step returns the path that a step leads to.
func (p *paths) step(s step) int32 {
	to, ok := p.steps[s]
	if !ok {
		to = int32(len(p.up))
		p.up, p.first = append(p.up, s.from), append(p.first, -1)
		p.steps[s] = to
	}
	// In a list without a class, which may be a set, values inside an element may have the path of the list.
	if k := len(p.open); k > 1 && p.open[k-1].path == s.from && p.open[k-2].pushed && p.open[k-2].path == p.up[s.from] {
		s.from = p.up[s.from]
		if old, ok := p.loose[s]; !ok {
			p.loose[s] = to
		} else if old != to {
			p.loose[s] = ambiguous
		}
	}
	return to
}

// register records that node i has the path to.
func (p *paths) register(to int32, n *decode.Node, i int32) {
	if n.Kind == decode.Ref {
		return
	}
	p.value = append(p.value, candidate{i, p.first[to]})
	p.first[to] = int32(len(p.value) - 1)
}

// alias records a second name for a path.
func (p *paths) alias(s step, to int32) {
	if old, ok := p.steps[s]; !ok {
		p.steps[s] = to
	} else if old != to {
		p.steps[s] = ambiguous
	}
}

// entry returns the path of the value of a map's entry. Its name is the key's toString, which is not always known: then the
// step leads to the only entry of that kind.
func (p *paths) entry(t *decode.Tree, n *decode.Node, i int32) int32 {
	key := i - 1
	for t.Nodes[key].Parent != n.Parent || t.Nodes[key].Label != decode.ByKey {
		key-- // descend into the key
		if t.Nodes[key].Label == decode.ByKey && t.Nodes[key].Parent == n.Parent {
			break
		}
	}
	k := &t.Nodes[key]
	name, exact := keyName(t, key)
	if !exact && (k.Kind == decode.Object || k.Kind == decode.List || k.Kind == decode.Map) {
		return p.step(step{from: p.at, index: n.Index})
	}
	to := p.step(step{p.at, byName, name})
	if other := skeleton(name); other != name {
		p.alias(step{p.at, byName, "\x01" + other}, to)
	}
	p.alias(step{p.at, n.Index, "value"}, to) // where the key is an object to the writer: a StringBuilder, a constant with methods
	if !exact {
		p.alias(step{p.at, byNothing, ""}, to)
	}
	return to
}

// keyName returns the toString of a key and whether that is certain. Floating point numbers have a form of this package.
func keyName(t *decode.Tree, key int32) (name string, exact bool) {
	switch n := &t.Nodes[key]; n.Kind {
	case decode.String, decode.Char, decode.Decimal:
		return n.Text, true
	case decode.Int:
		return strconv.FormatInt(n.Num, 10), true
	case decode.Bool:
		return strconv.FormatBool(n.Num != 0), true
	case decode.Float32:
		return floatName(n.Float, 32), true
	case decode.Float64:
		return floatName(n.Float, 64), true
	case decode.Enum, decode.Date: // an enum may have a toString of its own; that of java.util.Date is in the sender's zone
		return n.Text, false
	case decode.Bytes:
		if len(n.Raw) == 16 {
			return jdk.UUID(binary.BigEndian.Uint64(n.Raw), binary.BigEndian.Uint64(n.Raw[8:])), true
		}
	case decode.Object: // a Currency
		for c := key + 1; c < n.End; c++ {
			if f := &t.Nodes[c]; f.Label == decode.ByField && f.Name == "currencyCode" {
				return f.Text, true
			}
		}
	}
	return "", false
}

func floatName(f float64, bits int) string {
	return "\x02" + strconv.FormatFloat(f+0, 'g', -1, bits) // -0 is written as 0
}

// skeleton returns name with two question marks for each character of two UTF-16 units. Releases before 2.0.57 write some
// of them so, and others as another character of two units.
func skeleton(name string) string {
	if !strings.ContainsFunc(name, func(c rune) bool { return c > 0xffff }) {
		return name
	}
	var b strings.Builder
	for _, c := range name {
		if c > 0xffff {
			b.WriteString("??")
		} else {
			b.WriteRune(c)
		}
	}
	return b.String()
}
