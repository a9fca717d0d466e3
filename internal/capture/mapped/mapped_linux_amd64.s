#include "go_asm.h"
#include "textflag.h"

// func handlerAddress() uintptr
TEXT ·handlerAddress(SB), NOSPLIT, $0-8
	LEAQ busHandler<>(SB), AX
	MOVQ AX, ret+0(FP)
	RET

// The kernel calls busHandler with the signal in DI, the siginfo_t in SI and the context in DX, and restores all registers when it returns.
TEXT busHandler<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ 16(SI), AX // si_addr
	LEAQ ·regions(SB), CX
	MOVL $const_maxRegions, R8

next:
	CMPQ AX, region_from(CX)
	JCS  other
	CMPQ AX, region_to(CX)
	JCS  found

other:
	ADDQ $region__size, CX
	DECL R8
	JNZ  next

give: // to the Go runtime
	MOVQ ·goHandler(SB), AX
	JMP  AX

found:
	CMPQ region_missing(CX), $0
	JNE  known
	MOVQ AX, region_missing(CX)

known:
	MOVQ DI, R12
	MOVQ SI, R13
	MOVQ DX, R14
	MOVQ AX, DI
	ANDQ $~0xfff, DI
	MOVQ $4096, SI
	MOVQ $1, DX // PROT_READ
	MOVQ $0x32, R10 // MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS
	MOVQ $-1, R8
	MOVQ $0, R9
	MOVQ $9, AX // mmap
	SYSCALL
	CMPQ AX, $-4095
	JCC  failed
	RET

failed:
	MOVQ R12, DI
	MOVQ R13, SI
	MOVQ R14, DX
	JMP  give
