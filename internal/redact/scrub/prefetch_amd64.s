#include "go_asm.h"
#include "textflag.h"

// func prefetch(places *[together]*uint64)
TEXT ·prefetch(SB), NOSPLIT, $0-8
	MOVQ places+0(FP), SI
	MOVQ $const_together, CX

next:
	MOVQ       (SI), AX
	PREFETCHT0 (AX)
	ADDQ       $8, SI
	DECQ       CX
	JNZ        next
	RET
