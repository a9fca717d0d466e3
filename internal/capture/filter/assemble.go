package filter

import "golang.org/x/net/bpf"

// line is an instruction whose jumps are still blocks.
type line struct {
	ins
	t, f  *block
	short [2]bool // the jump uses a JA that follows it
}

// assemble orders the blocks so that all jumps go forward, and resolves the jumps. A conditional jump reaches 255
// instructions; longer jumps use JA, which has no such limit.
func (g *graph) assemble() ([]bpf.RawInstruction, error) {
	order := g.topological()
	for i, b := range order {
		b.order, b.loaded, b.reached = i, 0, false
	}
	// A value that every path to a block has loaded is not loaded again.
	carry := func(to *block, value int) {
		switch {
		case to == nil:
		case !to.reached:
			to.reached, to.loaded = true, value
		case to.loaded != value:
			to.loaded = 0
		}
	}
	g.root.reached = true
	for _, b := range order {
		if b.kind == blockTest {
			carry(b.t, b.value)
			carry(b.f, b.value)
		} else {
			carry(b.t, 0)
		}
	}

	var lines []line
	start := make([]int, len(order))
	for i, b := range order {
		start[i] = len(lines)
		switch b.kind {
		case blockReturn:
			lines = append(lines, line{ins: ins{opRet, b.k}})
		case blockStore:
			lines = append(lines, line{ins: ins{opLdK, b.k}}, line{ins: ins{opSt, shiftAt}})
			if i+1 == len(order) || order[i+1] != b.t {
				lines = append(lines, line{ins: ins{op: opJA}, t: b.t})
			}
		default:
			if b.loaded != b.value {
				for _, c := range b.code {
					lines = append(lines, line{ins: c})
				}
			}
			lines = append(lines, line{ins: ins{b.jump, b.k}, t: b.t, f: b.f})
		}
		if len(lines) > maxInstructions {
			return nil, errTooLong
		}
	}
	return resolve(lines, start)
}

func resolve(lines []line, start []int) ([]bpf.RawInstruction, error) {
	place := make([]int, len(lines)+1)
	for {
		n := 0
		for i := range lines {
			place[i] = n
			n++
			for _, long := range lines[i].short {
				if long {
					n++
				}
			}
		}
		place[len(lines)] = n
		if n > maxInstructions {
			return nil, errTooLong
		}
		grown := false
		for i := range lines {
			l := &lines[i]
			if l.f == nil {
				continue
			}
			for j, to := range []*block{l.t, l.f} {
				if !l.short[j] && place[start[to.order]]-place[i]-1 > 255 {
					l.short[j], grown = true, true
				}
			}
		}
		if !grown {
			break
		}
	}
	out := make([]bpf.RawInstruction, 0, place[len(lines)])
	for i, l := range lines {
		r := bpf.RawInstruction{Op: l.op, K: l.k}
		at := place[i]
		switch {
		case l.t == nil:
			out = append(out, r)
		case l.f == nil:
			r.K = uint32(place[start[l.t.order]] - at - 1)
			out = append(out, r)
		default:
			var trampolines []bpf.RawInstruction
			distance := func(j int, to *block) uint8 {
				target := place[start[to.order]]
				if !l.short[j] {
					return uint8(target - at - 1)
				}
				from := at + 1 + len(trampolines)
				trampolines = append(trampolines, bpf.RawInstruction{Op: opJA, K: uint32(target - from - 1)})
				return uint8(from - at - 1)
			}
			r.Jt = distance(0, l.t)
			r.Jf = distance(1, l.f)
			out = append(append(out, r), trampolines...)
		}
	}
	return out, nil
}
