package capture

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RestartUnprivileged is for builds with cgo, in which Go does not know all threads and so cannot drop the privileges
// of all. It opens the sockets that a capture needs, drops all privileges of this thread, and executes the program
// again with these sockets and without privileges. It does nothing and returns nil in other builds, without privileges,
// in the program that was executed again, and if it is not possible; then DropPrivileges does what it can.
//
// args returns the arguments of the new program for its sockets. An error of opening a socket is left for OpenLive to
// report.
func RestartUnprivileged(p Privileges, args func(Sockets) []string) error {
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0); errno != unix.ENOTSUP || !anyCapability() {
		return nil
	}
	uid, gid, change := os.Getuid(), os.Getgid(), false
	if p.User != "" {
		u, g, err := lookUpUser(p.User)
		change = u != uid || g != gid
		if err != nil || change && os.Geteuid() != 0 {
			return nil // DropPrivileges reports the reason
		}
		uid, gid = u, g
	}
	var s Sockets
	for _, one := range []struct {
		kind int
		fd   *int
	}{{unix.SOCK_RAW, &s.Raw}, {unix.SOCK_DGRAM, &s.Cooked}} {
		var err error
		if *one.fd, err = unix.Socket(unix.AF_PACKET, one.kind|unix.SOCK_NONBLOCK, 0); err != nil {
			return nil
		}
	}
	runtime.LockOSThread() // permanently: this thread becomes the new program
	if err := dropInThread(change, uid, gid); errors.Is(err, errSecurebitsRefused) {
		runtime.UnlockOSThread()
		_ = unix.Close(s.Raw)
		_ = unix.Close(s.Cooked)
		return nil
	} else if err != nil {
		return failure(Unreadable, "", err, "privileges cannot be given up: %v; build the program with CGO_ENABLED=0", err)
	}
	err := syscall.Exec("/proc/self/exe", args(s), os.Environ())
	return failure(Unreadable, "", err, "the program cannot be started again without privileges: %v; build it with CGO_ENABLED=0", err)
}

// errSecurebitsRefused is returned if root does not have CAP_SETPCAP (a container with NET_RAW alone). Any program that
// it executes would get its capabilities back. Nothing was dropped.
var errSecurebitsRefused = errors.New("securebits are not ours to set")

// dropInThread drops all privileges of this thread, so that a program which it executes has none either: execve(2) does
// not give back the capabilities of root (SECBIT_NOROOT) or of a file (no_new_privs).
func dropInThread(change bool, uid, gid int) error {
	const noRoot = 1<<0 | 1<<1 | 1<<2 | 1<<3 // SECBIT_NOROOT, SECBIT_NO_SETUID_FIXUP and their locks
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil && os.Geteuid() == 0 {
		return errSecurebitsRefused
	}
	for c := uintptr(0); unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0) == nil; c++ {
	}
	if change { // raw system calls affect one thread only
		group := uint32(gid)
		for _, call := range [][4]uintptr{
			{unix.SYS_SETGROUPS, 1, uintptr(unsafe.Pointer(&group)), 0},
			{unix.SYS_SETRESGID, uintptr(gid), uintptr(gid), uintptr(gid)},
			{unix.SYS_SETRESUID, uintptr(uid), uintptr(uid), uintptr(uid)},
		} {
			if _, _, errno := unix.RawSyscall(call[0], call[1], call[2], call[3]); errno != 0 {
				return fmt.Errorf("the user cannot be changed: %w", errno)
			}
		}
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return errors.Join(unix.Capset(&header, &none[0]), unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
}
