package capture

import (
	"fmt"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// Classic BPF that the kernel's own fields are read with (linux/filter.h): loads from SKF_AD_OFF on.
const (
	bpfLoadWord = 0x20 // BPF_LD | BPF_W | BPF_ABS
	bpfLoadZero = 0x00 // BPF_LD | BPF_IMM
	bpfJumpEq   = 0x15 // BPF_JMP | BPF_JEQ | BPF_K
	bpfReturn   = 0x06 // BPF_RET | BPF_K

	adOffset  = 0xfffff000 // SKF_AD_OFF, -0x1000
	adPktType = adOffset + 4
	adIfindex = adOffset + 8
	adHatype  = adOffset + 28

	// maxAtOnce bounds those of one capture: a jump of BPF reaches 255 instructions.
	maxAtOnce = 128
)

// program is what the socket runs: packets of other interfaces than indexes (if there are any) are not let in, nor
// what a loopback interface sends, if doubles says that it may be seen (it comes in again); then filter decides, or
// all goes in, cut to snapLen. Jumps of BPF are relative, so nothing in filter changes; it finds both registers 0, as
// it would at the start.
func program(filter []bpf.RawInstruction, snapLen int, indexes []int, doubles bool) []bpf.RawInstruction {
	var p []bpf.RawInstruction
	if len(indexes) > 0 {
		p = append(p, bpf.RawInstruction{Op: bpfLoadWord, K: adIfindex})
		for i, index := range indexes {
			p = append(p, bpf.RawInstruction{Op: bpfJumpEq, K: uint32(index), Jt: uint8(len(indexes) - i)})
		}
		p = append(p, bpf.RawInstruction{Op: bpfReturn, K: 0})
	}
	if doubles {
		p = append(p,
			bpf.RawInstruction{Op: bpfLoadWord, K: adPktType},
			bpf.RawInstruction{Op: bpfJumpEq, K: unix.PACKET_OUTGOING, Jf: 3},
			bpf.RawInstruction{Op: bpfLoadWord, K: adHatype},
			bpf.RawInstruction{Op: bpfJumpEq, K: unix.ARPHRD_LOOPBACK, Jf: 1},
			bpf.RawInstruction{Op: bpfReturn, K: 0},
		)
	}
	if len(filter) == 0 {
		return append(p, bpf.RawInstruction{Op: bpfReturn, K: uint32(snapLen)})
	}
	if len(p) > 0 {
		p = append(p, bpf.RawInstruction{Op: bpfLoadZero})
	}
	return append(p, filter...)
}

// attach sets the socket's filter; one that is there is replaced at once, without a packet between.
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
