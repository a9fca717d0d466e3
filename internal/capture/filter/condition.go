package filter

// cond is a condition on a packet, made of tests.
type cond struct {
	kind  condKind
	l, r  *cond // and, or; l: not; if: l is the condition, r follows it
	no    *cond // if: else
	test  *test
	value uint32 // store
}

type condKind int

const (
	condTest condKind = iota
	condAnd
	condOr
	condNot
	condIf
	condTrue
	condFalse
	condStore // true, and stores value in the memory of the shift
)

// test loads a value into the accumulator and compares it.
type test struct {
	code []ins
	jump uint16 // opJEq, opJGt, opJGE, opJSet; with opX compared with X
	k    uint32
}

// ins is an instruction other than a jump.
type ins struct {
	op uint16
	k  uint32
}

func and(all ...*cond) *cond { return joined(condAnd, all) }
func or(all ...*cond) *cond  { return joined(condOr, all) }

func joined(kind condKind, all []*cond) *cond {
	c := all[len(all)-1]
	for i := len(all) - 2; i >= 0; i-- {
		c = &cond{kind: kind, l: all[i], r: c}
	}
	return c
}

func not(c *cond) *cond { return &cond{kind: condNot, l: c} }

func constCond(v bool) *cond {
	if v {
		return &cond{kind: condTrue}
	}
	return &cond{kind: condFalse}
}

// The instructions that are used, with the numbers of bpf(4).
const (
	opLdW   = 0x20 // A = packet[k], 4 bytes
	opLdH   = 0x28
	opLdB   = 0x30
	opLdWX  = 0x40 // A = packet[X+k]
	opLdHX  = 0x48
	opLdBX  = 0x50
	opLdLen = 0x80
	opLdK   = 0x00
	opLdM   = 0x60
	opLdxK  = 0x01
	opLdxM  = 0x61
	opLdx4  = 0xb1 // X = 4*(packet[k]&15)
	opSt    = 0x02
	opStx   = 0x03
	opAdd   = 0x04
	opSub   = 0x14
	opMul   = 0x24
	opDiv   = 0x34
	opOr    = 0x44
	opAnd   = 0x54
	opLsh   = 0x64
	opRsh   = 0x74
	opNeg   = 0x84
	opMod   = 0x94
	opXor   = 0xa4
	opX     = 0x08 // flag of calculations and jumps: with X instead of k
	opJA    = 0x05
	opJEq   = 0x15
	opJGt   = 0x25
	opJGE   = 0x35
	opJSet  = 0x45
	opRet   = 0x06
	opRetA  = 0x16
	opTax   = 0x07
	opTxa   = 0x87
)

// Metadata that the kernel has for a packet (linux/filter.h). A load from these offsets returns it.
const (
	metaOffset      = 0xfffff000 // SKF_AD_OFF
	metaProtocol    = metaOffset + 0
	metaPacketType  = metaOffset + 4
	metaIfindex     = metaOffset + 8
	metaVLANTag     = metaOffset + 44
	metaVLANPresent = metaOffset + 48
)

// packetOutgoing is the packet type of what this machine sends (linux/if_packet.h).
const packetOutgoing = 4
