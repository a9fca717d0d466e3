package filter

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
)

// seen is what a program sees: bytes, and in the kernel what is beside them.
type seen struct {
	data      []byte
	length    int // on the wire
	protocol  uint32
	kind      uint32
	ifindex   uint32
	tagged    bool
	tag       uint32
	ancillary bool // as in the kernel
}

// run is the interpreter of libpcap and of the kernel, which golang.org/x/net/bpf's
// lacks loads of metadata for. The program was checked. short says that a load went
// beyond the packet's end.
func run(prog []bpf.RawInstruction, p *seen) (result uint32, short bool) {
	var a, x uint32
	var m [16]uint32
	load := func(at, size uint32, absolute bool) (uint32, bool) {
		if p.ancillary && absolute {
			switch at {
			case metaProtocol:
				return p.protocol, true
			case metaPacketType:
				return p.kind, true
			case metaIfindex:
				return p.ifindex, true
			case metaVLANTag:
				return p.tag, true
			case metaVLANPresent:
				if p.tagged {
					return 1, true
				}
				return 0, true
			}
		}
		if uint64(at)+uint64(size) > uint64(len(p.data)) {
			return 0, false
		}
		switch b := p.data[at:]; size {
		case 4:
			return binary.BigEndian.Uint32(b), true
		case 2:
			return uint32(binary.BigEndian.Uint16(b)), true
		default:
			return uint32(b[0]), true
		}
	}
	indirect := func(k uint32) uint32 {
		if p.ancillary || uint64(x)+uint64(k) <= 1<<32-1 {
			return x + k
		}
		return ^uint32(0)
	}
	for i := 0; i < len(prog); i++ {
		r := prog[i]
		ok := true
		operand := r.K
		if r.Op&7 >= 4 && r.Op&7 <= 5 && r.Op&8 != 0 {
			operand = x
		}
		switch r.Op &^ 8 {
		case opAdd:
			a += operand
			continue
		case opSub:
			a -= operand
			continue
		case opMul:
			a *= operand
			continue
		case opAnd:
			a &= operand
			continue
		case opOr:
			a |= operand
			continue
		case opXor:
			a ^= operand
			continue
		case opLsh:
			if p.ancillary {
				operand &= 31
			}
			a <<= operand
			continue
		case opRsh:
			if p.ancillary {
				operand &= 31
			}
			a >>= operand
			continue
		case opDiv, opMod:
			if operand == 0 {
				return 0, false
			}
			if r.Op&^8 == opDiv {
				a /= operand
			} else {
				a %= operand
			}
			continue
		case opJEq, opJGt, opJGE, opJSet:
			yes := false
			switch r.Op &^ 8 {
			case opJEq:
				yes = a == operand
			case opJGt:
				yes = a > operand
			case opJGE:
				yes = a >= operand
			case opJSet:
				yes = a&operand != 0
			}
			if yes {
				i += int(r.Jt)
			} else {
				i += int(r.Jf)
			}
			continue
		}
		switch r.Op {
		case opLdW:
			a, ok = load(r.K, 4, true)
		case opLdH:
			a, ok = load(r.K, 2, true)
		case opLdB:
			a, ok = load(r.K, 1, true)
		case opLdWX:
			a, ok = load(indirect(r.K), 4, false)
		case opLdHX:
			a, ok = load(indirect(r.K), 2, false)
		case opLdBX:
			a, ok = load(indirect(r.K), 1, false)
		case opLdx4:
			x, ok = load(r.K, 1, true)
			x = 4 * (x & 15)
		case opLdLen:
			a = uint32(p.length)
		case opLdLen | 1:
			x = uint32(p.length)
		case opLdK:
			a = r.K
		case opLdxK:
			x = r.K
		case opLdM:
			a = m[r.K]
		case opLdxM:
			x = m[r.K]
		case opSt:
			m[r.K] = a
		case opStx:
			m[r.K] = x
		case opNeg:
			a = -a
		case opTax:
			x = a
		case opTxa:
			a = x
		case opJA:
			i += int(r.K)
		case opRet:
			return r.K, false
		case opRetA:
			return a, false
		default:
			panic("unknown instruction")
		}
		if !ok {
			return 0, true
		}
	}
	panic("no return")
}
