#include "textflag.h"
#include "go_asm.h"

// Bytes above these, as signed numbers, and below 0: of sequences of 3 bytes or more, of 4 bytes or more. Bytes below the last: those that
// continue a sequence.
DATA limits<>+0(SB)/8, $0xdfdfdfdfdfdfdfdf
DATA limits<>+8(SB)/8, $0xdfdfdfdfdfdfdfdf
DATA limits<>+16(SB)/8, $0xdfdfdfdfdfdfdfdf
DATA limits<>+24(SB)/8, $0xdfdfdfdfdfdfdfdf
DATA limits<>+32(SB)/8, $0xefefefefefefefef
DATA limits<>+40(SB)/8, $0xefefefefefefefef
DATA limits<>+48(SB)/8, $0xefefefefefefefef
DATA limits<>+56(SB)/8, $0xefefefefefefefef
DATA limits<>+64(SB)/8, $0xc0c0c0c0c0c0c0c0
DATA limits<>+72(SB)/8, $0xc0c0c0c0c0c0c0c0
DATA limits<>+80(SB)/8, $0xc0c0c0c0c0c0c0c0
DATA limits<>+88(SB)/8, $0xc0c0c0c0c0c0c0c0
GLOBL limits<>(SB), RODATA|NOPTR, $96

// text goes over AX units from offset BX of the body SI, if the window at offset DX is the last one. It leaves the end in BX and -1 in AX, or,
// where it cannot go further, the window in BX and the number of units that begin there or later in AX. It changes R8, R10, R11 and R15.
//
// A unit is a byte that is not expected to continue a sequence. Those that are expected to are those after the bytes that start sequences
// of 2 (110xxxxx) or 3 (1110xxxx) bytes; they and no others must be 10xxxxxx.
TEXT text<>(SB), NOSPLIT|NOFRAME, $0-0
	XORL R11, R11 // the bytes of the window that are expected to continue a sequence
window:
	CMPQ BX, DX
	JGT  stop
	VMOVDQU (SI)(BX*1), Y0
	VPMOVMSKB Y0, R10
	MOVL R10, R8
	ORL  R11, R8
	JNZ  mixed
	CMPQ AX, $32
	JLE  ascii
	SUBQ $32, AX
	ADDQ $32, BX
	JMP  window

ascii:
	ADDQ AX, BX
	MOVQ $-1, AX
stop:
	RET

mixed:
	VMOVDQU limits<>+64(SB), Y1
	VPCMPGTB Y0, Y1, Y2
	VPMOVMSKB Y2, R8 // continue
	ANDNL R10, R8, R15 // start a sequence
	SHLQ $1, R15
	ORQ  R15, R11
	VPCMPGTB limits<>+0(SB), Y0, Y2
	VPMOVMSKB Y2, R15
	ANDL R10, R15 // of 3 bytes or more
	SHLQ $2, R15
	ORQ  R15, R11
	VPCMPGTB limits<>+32(SB), Y0, Y2
	VPMOVMSKB Y2, R15
	ANDL R10, R15 // of 4
	XORL R11, R8
	ORL  R15, R8 // wrong
	MOVQ R11, R15
	NOTQ R15 // units
	POPCNTL R15, R10
	CMPQ R10, AX
	JGT  last
	TESTL R8, R8
	JNZ  stop
	SUBQ R10, AX
	SHRQ $32, R11
	ADDQ $32, BX
	JMP  window

last: // the text ends at unit AX
	MOVL $1, R10
	SHLXQ AX, R10, R10
	PDEPQ R15, R10, R10
	TZCNTQ R10, R10
	BZHIL R10, R8, R8
	JNZ  stop
	ADDQ R10, BX
	MOVQ $-1, AX
	RET

// func units(b *byte, at, n, last int) (stop, left int)
TEXT ·units(SB), NOSPLIT, $0-48
	MOVQ b+0(FP), SI
	MOVQ at+8(FP), BX
	MOVQ n+16(FP), AX
	MOVQ last+24(FP), DX
	CALL text<>(SB)
	VZEROUPPER
	MOVQ BX, stop+32(FP)
	MOVQ AX, left+40(FP)
	RET

// type goes over the type of a list or map at offset BX. It leaves the offset after it in BX and the number of types that are known then in AX,
// 0 where it cannot go further. It changes R8, R10, R11 and R15.
TEXT type<>(SB), NOSPLIT|NOFRAME, $0-0
	MOVBLZX (SI)(BX*1), AX
	INCQ BX
	CMPL AX, $0x1f
	JLS  short
	MOVL AX, R10
	ANDL $0xfc, R10
	CMPL R10, $0x30
	JEQ  long
	SUBL $0x90, AX
	CMPL AX, $0x30
	JCC  none
	CMPQ AX, counter_types(R13)
	JGE  none
	MOVQ counter_types(R13), AX
	RET

short:
	CMPQ BX, DX
	JGT  none
	VMOVDQU (SI)(BX*1), Y0
	VPMOVMSKB Y0, R10
	BZHIL AX, R10, R10
	JNZ  name
	ADDQ AX, BX
	MOVQ counter_types(R13), AX
	INCQ AX
	RET

long:
	ANDL $3, AX
	SHLL $8, AX
	MOVBLZX (SI)(BX*1), R10
	ORL  R10, AX
	INCQ BX
name:
	CALL text<>(SB)
	TESTQ AX, AX
	JGE  none
	MOVQ counter_types(R13), AX
	INCQ AX
	RET

none:
	XORL AX, AX
	RET

// func count(c *counter)
//
// SI is the body, DI the offset of the next value, DX that of the last window, CX the number of values that are left, R9 the sum of that and
// the number of nodes, R12 the depth, R13 the counter.
TEXT ·count(SB), NOSPLIT, $0-8
	MOVQ c+0(FP), R13
	MOVQ counter_body(R13), SI
	MOVQ counter_last(R13), DX
	MOVQ counter_at(R13), DI
	MOVQ counter_left(R13), CX
	MOVQ counter_nodes(R13), R9
	MOVQ counter_depth(R13), R12
	ADDQ CX, R9
	LEAQ ·sizes(SB), R8
next:
	TESTQ CX, CX
	JZ   pop
	PCALIGN $32
value:
	CMPQ DI, DX
	JGE  done
	MOVBLZX (SI)(DI*1), AX
	CMPL AX, $0x1f
	JHI  other
	VMOVDQU 1(SI)(DI*1), Y0
	VPMOVMSKB Y0, BX
	BZHIL AX, BX, BX
	JNZ  wide
	INCQ DI
	ADDQ AX, DI
	DECQ CX
	JNZ  value
pop: // the container is complete
	CMPQ R12, counter_base(R13)
	JEQ  done
	DECQ R12
	MOVQ counter_stack(R13), R10
	MOVQ (R10)(R12*8), CX
	ADDQ CX, R9
	JMP  next

other:
	MOVBLZX (R8)(AX*1), BX
	TESTL BX, BX
	JZ   composed
	CMPL BX, $9 // most of those that are not small: the next offset need not wait for the size
	JNE  scalar
	ADDQ $9, DI
	DECQ CX
	JNZ  value
	JMP  pop

scalar:
	ADDQ BX, DI
	DECQ CX
	JNZ  value
	JMP  pop

wide:
	LEAQ 1(DI), BX
	JMP  words

composed:
	MOVL AX, BX
	ANDL $0xf0, BX
	CMPL BX, $0x60
	JEQ  object
	CMPL BX, $0x70
	JEQ  short
	CMPL AX, $0x56 // V
	JEQ  typed
	MOVL AX, BX
	ANDL $0xfc, BX
	CMPL BX, $0x30
	JEQ  long
	CMPL AX, $0x48 // H
	JEQ  map
	CMPL AX, $0x51 // Q
	JEQ  reference
	CMPL AX, $0x58 // X
	JEQ  list
	CMPL AX, $0x4d // M
	JEQ  typed
	CMPL AX, $0x5a // Z
	JEQ  end
	CMPL AX, $0x53 // S
	JNE  done
	MOVBLZX 1(SI)(DI*1), AX
	MOVBLZX 2(SI)(DI*1), BX
	SHLL $8, AX
	ORL  BX, AX
	LEAQ 3(DI), BX
	JMP  words

long:
	ANDL $3, AX
	SHLL $8, AX
	MOVBLZX 1(SI)(DI*1), BX
	ORL  BX, AX
	LEAQ 2(DI), BX
words:
	CALL text<>(SB)
	LEAQ ·sizes(SB), R8
	TESTQ AX, AX
	JGE  done
	MOVQ BX, DI
	DECQ CX
	JNZ  value
	JMP  pop

object:
	CMPQ R12, counter_room(R13)
	JGE  done
	ANDL $15, AX
	MOVQ counter_plain(R13), BX
	MOVL (BX)(AX*4), AX
	SUBQ $1, AX
	JLT  done // not met before, or with something else
	LEAQ 1(DI), BX
	JMP  open

short:
	TESTL $8, AX
	JZ   typed
	CMPQ R12, counter_room(R13)
	JGE  done
	ANDL $7, AX
	LEAQ 1(DI), BX
	JMP  open

map:
	CMPQ R12, counter_room(R13)
	JGE  done
	LEAQ 1(DI), BX
	MOVQ $const_inMap, AX
	JMP  open

end:
	CMPQ R12, counter_base(R13)
	JEQ  done
	MOVQ $(const_untilEnd/2), AX
	CMPQ CX, AX
	JLE  done // of a list of known length
	TESTL $1, CX
	JNZ  done // a key without a value
	INCQ DI
	INCQ counter_overhead(R13)
	SUBQ CX, R9
	INCQ R9
	JMP  pop

reference:
	CMPB counter_regular(R13), $0
	JEQ  done
	MOVBLZX 1(SI)(DI*1), AX
	LEAQ 2(DI), BX
	SUBL $0x90, AX
	CMPL AX, $0x30
	JCS  refer
	SUBL $0x38, AX
	CMPL AX, $8
	JCC  done
	SHLL $8, AX
	MOVBLZX (SI)(BX*1), R10
	ORL  R10, AX
	INCQ BX
refer:
	CMPQ AX, counter_objects(R13)
	JGE  done
	MOVQ BX, DI
	DECQ CX
	JMP  next

typed:
	CMPQ R12, counter_room(R13)
	JGE  done
	LEAQ 1(DI), BX
	CALL type<>(SB)
	LEAQ ·sizes(SB), R8
	TESTQ AX, AX
	JZ   done
	MOVBLZX (SI)(DI*1), R10
	CMPL R10, $0x4d
	JEQ  typedMap
	CMPL R10, $0x56
	JNE  typedShort
	MOVQ AX, R15
	CALL length<>(SB)
	TESTQ AX, AX
	JLT  done
	MOVQ R15, counter_types(R13)
	INCQ R9 // the length
	JMP  open

typedMap:
	MOVQ AX, counter_types(R13)
	MOVQ $const_inMap, AX
	JMP  open

typedShort:
	MOVQ AX, counter_types(R13)
	MOVL R10, AX
	ANDL $7, AX
	JMP  open

list:
	CMPQ R12, counter_room(R13)
	JGE  done
	LEAQ 1(DI), BX
	CALL length<>(SB)
	TESTQ AX, AX
	JLT  done
open: // a container of AX values, whose head ends at BX
	MOVQ BX, R10
	SUBQ DI, R10
	ADDQ R10, counter_overhead(R13)
	MOVQ BX, DI
	INCQ counter_objects(R13)
	INCQ R9 // two nodes, one value less
	DECQ CX
	TESTQ AX, AX
	JZ   next
	MOVQ counter_stack(R13), R10
	MOVQ CX, (R10)(R12*8)
	INCQ R12
	SUBQ CX, R9
	ADDQ AX, R9
	MOVQ AX, CX
	JMP  value

done:
	VZEROUPPER
	MOVQ DI, counter_at(R13)
	MOVQ CX, counter_left(R13)
	SUBQ CX, R9
	MOVQ R9, counter_nodes(R13)
	MOVQ R12, counter_depth(R13)
	RET

// length takes the length of a list at offset BX, of one or two bytes. It leaves the offset after it in BX and the length in AX, less than 0 where
// it cannot go further. It changes R10.
TEXT length<>(SB), NOSPLIT|NOFRAME, $0-0
	CMPQ BX, DX
	JGT  none
	MOVBLZX (SI)(BX*1), AX
	INCQ BX
	SUBL $0x90, AX
	CMPL AX, $0x30
	JCS  fits
	SUBL $0x38, AX
	CMPL AX, $8
	JCC  none
	SHLL $8, AX
	MOVBLZX (SI)(BX*1), R10
	ORL  R10, AX
	INCQ BX
fits:
	MOVQ counter_size(R13), R10
	SUBQ BX, R10
	CMPQ AX, R10
	JGT  none
	RET

none:
	MOVQ $-1, AX
	RET
