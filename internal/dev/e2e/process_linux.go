package e2e

import "syscall"

// diesWithUs asks the kernel to kill a child when its parent has died, so that a test that is killed leaves no JVM.
func diesWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
