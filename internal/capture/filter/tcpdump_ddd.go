package filter

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/bpf"
)

// IsDDD reports whether a text is a program as tcpdump -ddd prints it, rather than an expression: it consists of
// several numbers.
func IsDDD(text string) bool {
	n := 0
	for f := range strings.FieldsFuncSeq(text, dddSpace) {
		if !digits(f) {
			return false
		}
		n++
	}
	return n >= 5
}

// dddSpace reports spaces, and commas, which some tools print between instructions.
func dddSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\n' || r == ',' }

// ParseDDD parses the output of tcpdump -ddd: the number of instructions, then four numbers for each. The shell may
// have joined the lines. The program is checked with [Check]. An error is an *[Error].
func ParseDDD(text string) ([]bpf.RawInstruction, error) {
	if len(text) > 64*maxInstructions {
		return nil, &Error{Text: "the program is too long"}
	}
	var all []uint32
	for f := range strings.FieldsFuncSeq(text, dddSpace) {
		v, err := strconv.ParseUint(f, 10, 32)
		if err != nil {
			return nil, &Error{Text: fmt.Sprintf("%.20q is not a number of a tcpdump -ddd program", f)}
		}
		all = append(all, uint32(v))
	}
	if len(all) == 0 {
		return nil, &Error{Text: "the program is empty"}
	}
	n, rest := int(all[0]), all[1:]
	if n > maxInstructions || len(rest) != 4*n {
		return nil, &Error{Text: fmt.Sprintf("the program announces %d instructions but has %d numbers, not %d", n, len(rest), 4*n)}
	}
	prog := make([]bpf.RawInstruction, n)
	for i := range prog {
		r := rest[4*i : 4*i+4]
		if r[0] > 0xffff || r[1] > 0xff || r[2] > 0xff {
			return nil, &Error{Text: fmt.Sprintf("instruction %d is invalid", i)}
		}
		prog[i] = bpf.RawInstruction{Op: uint16(r[0]), Jt: uint8(r[1]), Jf: uint8(r[2]), K: r[3]}
	}
	if err := Check(prog); err != nil {
		return nil, err
	}
	return prog, nil
}

var known = func() map[uint16]bool {
	m := map[uint16]bool{opNeg: true, opTax: true, opTxa: true, opRet: true, opRetA: true, opJA: true, opSt: true, opStx: true}
	for _, op := range []uint16{opLdW, opLdH, opLdB, opLdWX, opLdHX, opLdBX, opLdLen, opLdK, opLdM, opLdxK, opLdxM, opLdx4, opLdLen | 1} {
		m[op] = true
	}
	for _, op := range []uint16{opAdd, opSub, opMul, opDiv, opMod, opAnd, opOr, opXor, opLsh, opRsh, opJEq, opJGt, opJGE, opJSet} {
		m[op], m[op|opX] = true, true
	}
	return m
}()

// Check reports whether the kernel can run a program: its operations are known, no jump leaves it, it ends with a
// return, and it reads no memory before writing it. An error is an *[Error].
func Check(prog []bpf.RawInstruction) error {
	if len(prog) == 0 || len(prog) > maxInstructions {
		return &Error{Text: fmt.Sprintf("a program has 1 to %d instructions, not %d", maxInstructions, len(prog))}
	}
	if last := prog[len(prog)-1].Op; last != opRet && last != opRetA {
		return &Error{Text: "the program does not end with a return"}
	}
	written := make([]uint16, len(prog)) // memory cells that are written on every path to an instruction
	for i := range written {
		written[i] = 0xffff
	}
	written[0] = 0
	for i, r := range prog {
		bad := func(what string) error {
			return &Error{Text: fmt.Sprintf("instruction %d of the program %s", i, what)}
		}
		if !known[r.Op] {
			return bad("is unknown")
		}
		now := written[i]
		switch r.Op {
		case opLdM, opLdxM, opSt, opStx:
			if r.K >= memories {
				return bad("uses memory that there is not")
			}
			if bit := uint16(1) << r.K; r.Op == opSt || r.Op == opStx {
				now |= bit
			} else if now&bit == 0 {
				return bad("reads memory before it is written")
			}
		case opDiv, opMod:
			if r.K == 0 {
				return bad("divides by zero")
			}
		case opLsh, opRsh:
			if r.K > 31 {
				return bad("shifts by more than 31 bits")
			}
		}
		reach := func(to uint64) bool {
			if to >= uint64(len(prog)) {
				return false
			}
			written[to] &= now
			return true
		}
		ok := true
		switch {
		case r.Op == opRet || r.Op == opRetA:
		case r.Op == opJA:
			ok = reach(uint64(i) + 1 + uint64(r.K))
		case r.Op&7 == 5:
			ok = reach(uint64(i)+1+uint64(r.Jt)) && reach(uint64(i)+1+uint64(r.Jf))
		default:
			ok = reach(uint64(i) + 1)
		}
		if !ok {
			return bad("leaves it")
		}
	}
	return nil
}

// Adapt adapts a program of tcpdump -ddd to a target. A program for cooked packets reads a header that the kernel does
// not show; it gets the metadata instead, as in libpcap. The snap length replaces the return values.
func Adapt(prog []bpf.RawInstruction, t Target) ([]bpf.RawInstruction, error) {
	out := append([]bpf.RawInstruction(nil), prog...)
	g := newGen(t)
	for i := range out {
		r := &out[i]
		switch r.Op {
		case opRet:
			if r.K != 0 && t.SnapLen > 0 {
				r.K = uint32(t.SnapLen)
			}
		case opLdW, opLdH, opLdB:
			if g.header > 0 && r.K < 1<<31 {
				size := map[uint16]uint32{opLdW: 4, opLdH: 2, opLdB: 1}[r.Op]
				r.K = g.absolute(r.K, size).k
			}
		case opLdWX, opLdHX, opLdBX, opLdx4:
			if g.header > 0 {
				if r.K < uint32(g.header) || r.K >= 1<<31 {
					g.fail("the program reads the cooked header, which the kernel does not show to filters")
				}
				r.K -= uint32(g.header)
			}
		}
	}
	if g.err != nil && t.cooked() {
		return nil, g.err
	}
	return out, nil
}
