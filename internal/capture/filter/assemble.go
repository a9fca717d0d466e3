package filter

import (
	"slices"

	"golang.org/x/net/bpf"
)

// assemble orders the blocks so that all jumps go forward, and makes their instructions from the last one to the first,
// so that the targets of a jump are known. A conditional jump reaches 255 instructions; longer jumps use a JA after it,
// which has no such limit.
func (g *graph) assemble() ([]bpf.RawInstruction, error) {
	order := g.topological()
	findLoaded(order)
	var out []bpf.RawInstruction // the last instruction first
	add := func(op uint16, k uint32) { out = append(out, bpf.RawInstruction{Op: op, K: k}) }
	// distance returns how many instructions a jump before the last ones skips to reach a block.
	distance := func(to *block) int { return len(out) - to.start }
	for _, b := range slices.Backward(order) {
		switch b.kind {
		case blockReturn:
			add(opRet, b.k)
		case blockStore:
			if n := distance(b.t); n > 0 {
				add(opJA, uint32(n))
			}
			add(opSt, shiftAt)
			add(opLdK, b.k)
		default:
			end, jas := len(out), 0
			targets, skip := [2]*block{b.f, b.t}, [2]uint8{}
			for range targets { // each JA makes both jumps longer
				far := 0
				for _, to := range targets {
					if end+jas-to.start > 255 {
						far++
					}
				}
				jas = far
			}
			for i, to := range targets {
				n := end + jas - to.start
				if n > 255 {
					add(opJA, uint32(distance(to)))
					n = end + jas - len(out)
				}
				skip[i] = uint8(n)
			}
			out = append(out, bpf.RawInstruction{Op: b.jump, Jf: skip[0], Jt: skip[1], K: b.k})
			if b.loaded != b.value {
				for _, c := range slices.Backward(b.code) {
					add(c.op, c.k)
				}
			}
		}
		b.start = len(out)
		if len(out) > maxInstructions {
			return nil, errTooLong
		}
	}
	slices.Reverse(out)
	return out, nil
}

// findLoaded finds the blocks whose value every path to them has loaded, so that it is not loaded again.
func findLoaded(order []*block) {
	for _, b := range order {
		b.loaded, b.reached = 0, false
	}
	carry := func(to *block, value int) {
		switch {
		case to == nil:
		case !to.reached:
			to.reached, to.loaded = true, value
		case to.loaded != value:
			to.loaded = 0
		}
	}
	order[0].reached = true
	for _, b := range order {
		value := 0
		if b.kind == blockTest {
			value = b.value
		}
		carry(b.t, value)
		carry(b.f, value)
	}
}
