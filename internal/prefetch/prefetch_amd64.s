#include "textflag.h"

// func Places(places []unsafe.Pointer)
TEXT ·Places(SB), NOSPLIT, $0-24
	MOVQ  places_base+0(FP), SI
	MOVQ  places_len+8(FP), CX
	TESTQ CX, CX
	JZ    done

next:
	MOVQ       (SI), AX
	PREFETCHT0 (AX)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        next

done:
	RET

// func Bytes(b []byte)
TEXT ·Bytes(SB), NOSPLIT, $0-24
	MOVQ  b_base+0(FP), SI
	MOVQ  b_len+8(FP), CX
	TESTQ CX, CX
	JZ    done

next:
	PREFETCHT0 (SI)
	ADDQ       $64, SI
	SUBQ       $64, CX
	JGT        next

done:
	RET

// func Write(p unsafe.Pointer, n uintptr)
TEXT ·Write(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), CX

next:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x0E // PREFETCHW (SI), which the assembler does not know
	ADDQ $64, SI
	SUBQ $64, CX
	JGT  next
	RET

// func Packet(p unsafe.Pointer, apart int)
TEXT ·Packet(SB), NOSPLIT, $0-16
	MOVQ       p+0(FP), SI
	MOVQ       apart+8(FP), CX
	PREFETCHT0 (SI)
	PREFETCHT0 64(SI)
	PREFETCHT0 128(SI)
	PREFETCHT0 192(SI)
	PREFETCHT0 (SI)(CX*1)
	PREFETCHT0 (SI)(CX*2)
	RET
