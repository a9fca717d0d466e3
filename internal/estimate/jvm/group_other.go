//go:build !unix

package jvm

import (
	"os"
	"syscall"
)

// ownGroup has nothing to set on this system: the child ends at the end of its input.
func ownGroup() *syscall.SysProcAttr { return nil }

// killGroup kills a child.
func killGroup(p *os.Process) {
	p.Kill() //nolint:errcheck // it has ended
}
