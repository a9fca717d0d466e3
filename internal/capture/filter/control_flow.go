package filter

import (
	"encoding/binary"
	"slices"
)

// maxBlocks bounds the work before the number of instructions can be checked.
const maxBlocks = 40000

// maxFacts bounds what is known about a packet at a block.
const maxFacts = 24

// maxPasses bounds the passes over the graph.
const maxPasses = 12

type blockKind int

const (
	blockTest blockKind = iota
	blockStore
	blockReturn
)

// block is a test with two successors, a store with one, or a return.
type block struct {
	kind  blockKind
	code  []ins
	value int // the number of what the code loads into A; the same code, the same number
	jump  uint16
	k     uint32 // compared with, stored, or returned
	t, f  *block

	seen    int  // the last pass that visited it
	id      int  // in the order of merge
	start   int  // its instructions and all that follow them, by assemble
	known   bool // facts are valid in this pass
	facts   []fact
	loaded  int // the value that is in A on all paths to the block, or 0
	reached bool
}

// fact is the result of an earlier test.
type fact struct {
	value  int
	jump   uint16
	k      uint32
	result bool
}

// graph is a program whose blocks have no order yet.
type graph struct {
	root      *block
	blocks    int
	ids       map[string]int
	usesShift []bool // by value: it depends on the memory of the shift
	pass      int
}

func newGraph(c *cond, shifts bool, snapLen uint32) (*graph, error) {
	g := &graph{ids: map[string]int{}, usesShift: []bool{false}}
	accept := &block{kind: blockReturn, k: snapLen}
	reject := &block{kind: blockReturn}
	g.root = g.build(c, accept, reject)
	if shifts {
		g.root = &block{kind: blockStore, t: g.root}
	}
	if g.blocks > maxBlocks {
		return nil, errTooLong
	}
	return g, nil
}

var errTooLong = &Error{Text: "the expression needs more than 4,096 instructions; shorten it"}

// build makes blocks that continue at t if the condition is true and at f if it is false.
func (g *graph) build(c *cond, t, f *block) *block {
	if g.blocks > maxBlocks {
		return f
	}
	switch c.kind {
	case condAnd:
		return g.build(c.l, g.build(c.r, t, f), f)
	case condOr:
		return g.build(c.l, t, g.build(c.r, t, f))
	case condNot:
		return g.build(c.l, f, t)
	case condIf:
		return g.build(c.l, g.build(c.r, t, f), g.build(c.no, t, f))
	case condTrue:
		return t
	case condFalse:
		return f
	case condStore:
		g.blocks++
		return &block{kind: blockStore, k: c.value, t: t}
	}
	g.blocks++
	return &block{code: c.test.code, value: g.number(c.test.code), jump: c.test.jump, k: c.test.k, t: t, f: f}
}

func (g *graph) number(code []ins) int {
	key := make([]byte, 0, 6*len(code))
	usesShift := false
	for _, i := range code {
		key = binary.BigEndian.AppendUint16(key, i.op)
		key = binary.BigEndian.AppendUint32(key, i.k)
		usesShift = usesShift || i.op == opLdxM && i.k == shiftAt
	}
	n, ok := g.ids[string(key)]
	if !ok {
		n = len(g.usesShift)
		g.ids[string(key)] = n
		g.usesShift = append(g.usesShift, usesShift)
	}
	return n
}

// topological lists the reachable blocks, each after all that lead to it.
func (g *graph) topological() []*block {
	g.pass++
	var out []*block
	var visit func(b *block) // as deep as there are blocks, at most
	visit = func(b *block) {
		if b == nil || b.seen == g.pass {
			return
		}
		b.seen = g.pass
		visit(b.t)
		visit(b.f)
		out = append(out, b)
	}
	visit(g.root)
	slices.Reverse(out)
	return out
}

// merge merges blocks that do the same and have the same successors. It reports whether there were any.
func (g *graph) merge() bool {
	type key struct {
		kind     blockKind
		value    int
		jump     uint16
		k        uint32
		tID, fID int
	}
	have := map[key]*block{}
	as := map[*block]*block{}
	order := g.topological()
	for i := len(order) - 1; i >= 0; i-- {
		b := order[i]
		k := key{kind: b.kind, value: b.value, jump: b.jump, k: b.k}
		if b.t != nil {
			b.t = as[b.t]
			k.tID = b.t.id
		}
		if b.f != nil {
			b.f = as[b.f]
			k.fID = b.f.id
		}
		same, ok := have[k]
		if !ok {
			b.id = len(have) + 1
			have[k], same = b, b
		}
		as[b] = same
	}
	g.root = as[g.root]
	return len(have) < len(order)
}

// skipKnownTests makes each edge skip the tests whose result is known there. Such a test has loaded its value before on
// that path, so skipping it cannot accept a packet that its load would have rejected.
func (g *graph) skipKnownTests() {
	for range maxPasses {
		order := g.topological()
		for _, b := range order {
			b.known, b.facts = false, nil
		}
		g.root.known = true
		changed := false
		follow := func(edge **block, facts []fact) {
			to := skipKnown(*edge, facts)
			changed = changed || to != *edge
			*edge = to
			intersectFacts(to, facts)
		}
		for _, b := range order {
			switch b.kind {
			case blockStore:
				follow(&b.t, slices.DeleteFunc(slices.Clone(b.facts), func(f fact) bool { return g.usesShift[f.value] }))
			case blockTest:
				follow(&b.t, addFact(b.facts, fact{b.value, b.jump, b.k, true}))
				follow(&b.f, addFact(b.facts, fact{b.value, b.jump, b.k, false}))
			}
		}
		follow(&g.root, nil)
		if merged := g.merge(); !merged && !changed {
			return
		}
	}
}

// removeUnusedStores removes the stores of shifts that no later test reads.
func (g *graph) removeUnusedStores() {
	order := g.topological()
	reads := map[*block]bool{}
	past := func(b *block) *block {
		for b != nil && b.kind == blockStore && !reads[b.t] {
			b = b.t
		}
		return b
	}
	for i := len(order) - 1; i >= 0; i-- {
		b := order[i]
		b.t, b.f = past(b.t), past(b.f)
		reads[b] = b.kind == blockTest && (g.usesShift[b.value] || reads[b.t] || reads[b.f])
	}
	g.root = past(g.root)
}

// skipKnown returns the first block from b on whose result is not known.
func skipKnown(b *block, facts []fact) *block {
	for range 256 {
		if b.kind != blockTest {
			break
		}
		if b.t == b.f { // its load can still reject a packet; libpcap's optimizer removes it, too
			b = b.t
			continue
		}
		result, known := decide(b, facts)
		if !known {
			break
		}
		if result {
			b = b.t
		} else {
			b = b.f
		}
	}
	return b
}

func decide(b *block, facts []fact) (result, known bool) {
	for i := len(facts) - 1; i >= 0; i-- {
		f := facts[i]
		switch {
		case f.value != b.value:
		case f.jump == b.jump && f.k == b.k:
			return f.result, true
		case f.jump == opJEq && f.result && b.jump&opX == 0:
			switch b.jump {
			case opJEq:
				return f.k == b.k, true
			case opJGt:
				return f.k > b.k, true
			case opJGE:
				return f.k >= b.k, true
			case opJSet:
				return f.k&b.k != 0, true
			}
		}
	}
	return false, false
}

// addFact adds a fact. A fact that states the value replaces all facts about that value.
func addFact(facts []fact, f fact) []fact {
	out := make([]fact, 0, len(facts)+1)
	for _, have := range facts {
		if have.value != f.value || f.jump != opJEq || !f.result {
			out = append(out, have)
		}
	}
	if len(out) >= maxFacts {
		out = out[1:]
	}
	return append(out, f)
}

// intersectFacts keeps the facts at a block that are also known on this path to it.
func intersectFacts(b *block, facts []fact) {
	if !b.known {
		b.known, b.facts = true, facts
		return
	}
	b.facts = slices.DeleteFunc(slices.Clone(b.facts), func(f fact) bool { return !slices.Contains(facts, f) })
}
