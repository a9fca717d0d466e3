package e2e

import "syscall"

// killWithParent makes the kernel kill a child when its parent ends, so that a killed test leaves no JVM.
func killWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
