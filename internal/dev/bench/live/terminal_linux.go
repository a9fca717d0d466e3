package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// onTerminal gives a command a terminal of 120 columns and 40 rows as its standard input and output, and reads what it shows until it ends.
func onTerminal(cmd *exec.Cmd) (closing func(), err error) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120})
	}
	if err != nil {
		return nil, err
	}
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	go io.Copy(io.Discard, screen) //nolint:errcheck // ends with the terminal
	return func() { terminal.Close(); screen.Close() }, nil
}
