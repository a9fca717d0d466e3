package hessian2

import "golang.org/x/sys/cpu"

// fast is set if the processor has what count and units need.
var fast = cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// count takes what [counter.leaf] and [counter.container] take, up to the last window of the body. It may stop before any value that they
// take.
//
//go:noescape
func count(c *counter)

// units goes over n UTF-16 units of text from offset at of the body b, if the window at offset last is the last one. It returns the offset
// after them and -1, or, where it cannot go further, the offset of a window and how many units begin there or later; a sequence that began before
// may continue there, or be cut off.
//
//go:noescape
func units(b *byte, at, n, last int) (stop, left int)
