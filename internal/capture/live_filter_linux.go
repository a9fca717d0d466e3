package capture

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// maxAtOnce bounds the interfaces of one capture: a jump of BPF reaches 255 instructions.
const maxAtOnce = 128

// program returns what the socket runs. It rejects packets of other interfaces than indexes, if there are any. If
// showsTwice is set, it rejects what a loopback interface sends, which comes in again. Then filter decides; without a
// filter all packets pass, cut to snapLen. Jumps of BPF are relative, so filter needs no change; it starts with both
// registers 0, as it would alone.
func program(filter []bpf.RawInstruction, snapLen int, indexes []int, showsTwice bool) []bpf.RawInstruction {
	var p []bpf.Instruction
	if len(indexes) > 0 {
		p = append(p, bpf.LoadExtension{Num: bpf.ExtInterfaceIndex})
		for i, index := range indexes {
			p = append(p, bpf.JumpIf{Cond: bpf.JumpEqual, Val: uint32(index), SkipTrue: uint8(len(indexes) - i)})
		}
		p = append(p, bpf.RetConstant{})
	}
	if showsTwice {
		p = append(p,
			bpf.LoadExtension{Num: bpf.ExtType},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.PACKET_OUTGOING, SkipFalse: 3},
			bpf.LoadExtension{Num: bpf.ExtLinkLayerType},
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.ARPHRD_LOOPBACK, SkipFalse: 1},
			bpf.RetConstant{},
		)
	}
	switch {
	case len(filter) == 0:
		p = append(p, bpf.RetConstant{Val: uint32(snapLen)})
	case len(p) > 0:
		p = append(p, bpf.LoadConstant{Dst: bpf.RegA})
	}
	raw, _ := bpf.Assemble(p) // none of these instructions has an error
	return append(raw, filter...)
}

// attach sets the filter of the socket. It replaces an existing filter atomically.
func (r *ring) attach(program []bpf.RawInstruction) error {
	if len(program) > unix.BPF_MAXINSNS {
		return fmt.Errorf("the filter has %d instructions; the kernel takes %d", len(program), unix.BPF_MAXINSNS)
	}
	code := make([]unix.SockFilter, len(program))
	for i, ins := range program {
		code[i] = unix.SockFilter{Code: ins.Op, Jt: ins.Jt, Jf: ins.Jf, K: ins.K}
	}
	err := unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(code)), Filter: &code[0]})
	if err != nil {
		return fmt.Errorf("the filter was refused: %w", err)
	}
	return nil
}
