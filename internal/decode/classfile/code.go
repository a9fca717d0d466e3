package classfile

import "encoding/binary"

// Instructions (JVMS 6.5) that are understood.
const (
	opIconstM1      = 0x02
	opIconst5       = 0x08
	opLconst0       = 0x09
	opLconst1       = 0x0a
	opBipush        = 0x10
	opSipush        = 0x11
	opLdc           = 0x12
	opLdcW          = 0x13
	opLdc2W         = 0x14
	opAastore       = 0x53
	opDup           = 0x59
	opI2l           = 0x85
	opIfeq          = 0x99
	opJsr           = 0xa8
	opTable         = 0xaa
	opLookup        = 0xab
	opGetstatic     = 0xb2
	opPutstatic     = 0xb3
	opInvokespecial = 0xb7
	opInvokestatic  = 0xb8
	opNew           = 0xbb
	opNewArray      = 0xbd // anewarray
	opWide          = 0xc4
	opIfnull        = 0xc6
	opIfnonnull     = 0xc7
	wideIinc        = 0x84
	instructions    = 0xca
)

// lengths are the bytes of an instruction by opcode; 0 for those whose length varies.
var lengths = func() (n [instructions]uint8) {
	for _, r := range []struct {
		from, to int
		length   uint8
	}{
		{0, 15, 1},
		{16, 16, 2},
		{17, 17, 3},
		{18, 18, 2},
		{19, 20, 3},
		{21, 25, 2},
		{26, 53, 1},
		{54, 58, 2},
		{59, 131, 1},
		{132, 132, 3},
		{133, 152, 1},
		{153, 168, 3},
		{169, 169, 2},
		{172, 177, 1},
		{178, 184, 3},
		{185, 186, 5},
		{187, 187, 3},
		{188, 188, 2},
		{189, 189, 3},
		{190, 191, 1},
		{192, 193, 3},
		{194, 195, 1},
		{197, 197, 4},
		{198, 199, 3},
		{200, 201, 5},
	} {
		for op := r.from; op <= r.to; op++ {
			n[op] = r.length
		}
	}
	return n
}()

// codeOf reads a Code attribute (JVMS 4.7.3).
func codeOf(r *reader) *code {
	r.u2() // stack
	c := &code{locals: r.u2()}
	n := r.u4()
	c.instructions = r.take(int(min(n, 1<<16)))
	return c
}

// instructionLen returns the bytes of the instruction at an offset of code; 0 if it is not one or not whole.
func instructionLen(code []byte, at int) int {
	if at >= len(code) || int(code[at]) >= instructions {
		return 0
	}
	n := int(lengths[code[at]])
	operand := func(k int) int64 { // the k-th number of four bytes after padding
		if p := at&^3 + 4 + 4*k; p+4 <= len(code) {
			return int64(int32(binary.BigEndian.Uint32(code[p:])))
		}
		return -1
	}
	switch code[at] {
	case opTable:
		low, high := operand(1), operand(2)
		if high < low || high-low >= 1<<16 {
			return 0
		}
		n = at&^3 + 16 + 4*int(high-low+1) - at
	case opLookup:
		pairs := operand(1)
		if pairs < 0 || pairs >= 1<<16 {
			return 0
		}
		n = at&^3 + 12 + 8*int(pairs) - at
	case opWide:
		n = 4
		if at+1 < len(code) && code[at+1] == wideIinc {
			n = 6
		}
	}
	if n > len(code)-at {
		return 0
	}
	return n
}

// assigned returns the number that the static initializer gives to a static field of this class; ok is false unless it does
// so once, and with a constant.
func (p *parser) assigned(field string) (value int64, ok bool) {
	var before int64
	constant, times := false, 0
	for at := 0; at < len(p.clinit); {
		n := instructionLen(p.clinit, at)
		if n == 0 {
			return 0, false
		}
		ins := p.clinit[at : at+n]
		at += n
		switch op := ins[0]; {
		case op == opPutstatic:
			class, name, _, found := p.pool.member(int(binary.BigEndian.Uint16(ins[1:])))
			if found && class == p.c.Name && name == field {
				value, ok = before, constant
				times++
			}
			constant = false
		case op == opI2l: // the same number
		default:
			before, constant = p.pushed(ins)
		}
	}
	return value, ok && times == 1
}

// pushed returns the integer that an instruction puts on the stack, if it is a constant.
func (p *parser) pushed(ins []byte) (value int64, ok bool) {
	switch op := ins[0]; {
	case op >= opIconstM1 && op <= opIconst5:
		return int64(op) - opIconstM1 - 1, true
	case op == opLconst0 || op == opLconst1:
		return int64(op) - opLconst0, true
	case op == opBipush:
		return int64(int8(ins[1])), true
	case op == opSipush:
		return int64(int16(binary.BigEndian.Uint16(ins[1:]))), true
	case op == opLdc:
		return p.integer(int(ins[1]), 'I')
	case op == opLdcW:
		return p.integer(int(binary.BigEndian.Uint16(ins[1:])), 'I')
	case op == opLdc2W:
		return p.integer(int(binary.BigEndian.Uint16(ins[1:])), 'J')
	}
	return 0, false
}
