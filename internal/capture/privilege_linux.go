package capture

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DropPrivileges drops all capabilities (capabilities(7)) and the ability to gain any by executing a program
// (no_new_privs), and changes the user if one is given. It does so for all threads and permanently. Open sockets stay
// open. It does nothing to a process without privileges.
//
// Other processes of the same user can no longer read the memory of the process (PR_SET_DUMPABLE), which contains
// captured data.
//
// It needs a build without cgo, because only then Go knows all threads. A build with cgo drops what it can. If a thread
// keeps a capability, the error has the cause NotSupported.
func DropPrivileges(p Privileges) error {
	fail := func(what string, err error) error {
		return failure(Unreadable, "", err, "privileges cannot be given up: %s: %v", what, err)
	}
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0); errno == unix.ENOTSUP {
		return dropWithCgo(p)
	}
	// A process that may not do this cannot use the bounding set either: no_new_privs is set in any case.
	for c := uintptr(0); ; c++ {
		if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, c, 0); errno != 0 {
			break // EPERM, or EINVAL after the last capability
		}
	}
	if p.User != "" {
		if err := changeUser(p.User); err != nil {
			return err
		}
	}
	for _, one := range []struct {
		name                  string
		option, value, second uintptr
		optional              bool
	}{
		{"no_new_privs", unix.PR_SET_NO_NEW_PRIVS, 1, 0, false},
		{"keep_caps", unix.PR_SET_KEEPCAPS, 0, 0, true},                                       // EPERM if it is locked, but then it has no effect
		{"ambient capabilities", unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, true}, // none before Linux 4.3
		{"dumpable", unix.PR_SET_DUMPABLE, 0, 0, true},
	} {
		_, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, one.option, one.value, one.second, 0, 0, 0)
		if errno != 0 && !one.optional {
			return fail(one.name, errno)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none)), 0)
	if errno != 0 {
		return fail("capset", errno)
	}
	return nil
}

// dropWithCgo changes the user with the C library, which removes the capabilities of root from all threads, and sets
// no_new_privs in all threads with a seccomp filter that allows everything (SECCOMP_FILTER_FLAG_TSYNC, seccomp(2)).
func dropWithCgo(p Privileges) error {
	if p.User != "" {
		if err := changeUser(p.User); err != nil {
			return err
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err == nil {
		allow := unix.SockFilter{Code: unix.BPF_RET, K: unix.SECCOMP_RET_ALLOW}
		program := unix.SockFprog{Len: 1, Filter: &allow}
		_, _, _ = unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	}
	if !anyCapability() {
		return nil
	}
	return failure(NotSupported, "", nil, "privileges cannot be dropped in all threads: this program was built with cgo; build it with CGO_ENABLED=0, or run it as root with --user NAME")
}

// anyCapability reports whether a thread has a capability, as far as /proc tells.
func anyCapability() bool {
	all, _ := filepath.Glob("/proc/self/task/*/status")
	for _, file := range all {
		status, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "CapPrm:"); ok && strings.Trim(value, "0 \t\n") != "" {
				return true
			}
		}
	}
	return len(all) == 0 && os.Geteuid() == 0
}

// changeUser changes the user of all threads, with its own group only.
func changeUser(name string) error {
	uid, gid, err := lookUpUser(name)
	if err != nil {
		return &Error{Cause: Unreadable, File: name, Err: err, Text: err.Error()}
	}
	if uid == os.Getuid() && uid == os.Geteuid() && gid == os.Getgid() && gid == os.Getegid() {
		return nil
	}
	err = syscall.Setgroups([]int{gid})
	if err == nil {
		err = syscall.Setresgid(gid, gid, gid)
	}
	if err == nil {
		err = syscall.Setresuid(uid, uid, uid)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EPERM):
		return failure(Permission, name, err, "the user cannot be changed to %s: that needs root (CAP_SETUID and CAP_SETGID), but dubbo-wire runs as uid %d; run with sudo, or without --user", name, os.Getuid())
	}
	return failure(Unreadable, name, err, "the user cannot be changed to %s: %v", name, err)
}

// lookUpUser finds a user by name or number. A number that is not in /etc/passwd gets the group with the same number.
func lookUpUser(name string) (uid, gid int, err error) {
	u, err := user.Lookup(name)
	if err != nil {
		number, bad := strconv.ParseUint(name, 10, 31)
		if bad != nil {
			return 0, 0, fmt.Errorf("there is no user %s; give a name from /etc/passwd, or a number", name)
		}
		if u, err = user.LookupId(name); err != nil {
			return int(number), int(number), nil
		}
	}
	uid, err = strconv.Atoi(u.Uid)
	if err == nil {
		gid, err = strconv.Atoi(u.Gid)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("user %s has no numeric id: %w", name, err)
	}
	return uid, gid, nil
}

// permissionText returns the error text for a capture that was not permitted, with what to do.
func permissionText(iface string) string {
	text := "no permission to capture from " + iface
	if hasNetRaw() {
		return text + " despite cap_net_raw: a security module, a seccomp profile or a user namespace forbids packet sockets"
	}
	self := executable()
	ways := "run with sudo, or allow it once: sudo setcap cap_net_raw+ep " + self
	switch {
	case netRawWithheld():
		return text + ": no program here can have cap_net_raw; start the container with --cap-add NET_RAW, then " + ways
	case hasFileCapability(self):
		return text + ": " + self + " has the capability, but it has no effect here (nosuid file system, or no_new_privs); outside " + ways
	}
	return text + "; " + ways
}

// netRawWithheld reports whether no program that this one starts can have CAP_NET_RAW, not even as root.
func netRawWithheld() bool {
	has, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_NET_RAW, 0, 0, 0)
	return err == nil && has == 0
}

// raiseNetRaw makes CAP_NET_RAW effective if it is permitted. A file has it so after setcap cap_net_raw+p, which unlike +ep lets the
// program start where no process may have the capability: in a container that reads files only.
func raiseNetRaw() {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	const netRaw = 1 << unix.CAP_NET_RAW
	if unix.Capget(&header, &data[0]) != nil || data[0].Permitted&netRaw == 0 || data[0].Effective&netRaw != 0 {
		return
	}
	data[0].Effective |= netRaw
	// What fails here makes opening the socket fail. That is so in a build with cgo.
	_, _, _ = syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)), 0)
}

// hasNetRaw reports whether CAP_NET_RAW is effective.
func hasNetRaw() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&(1<<unix.CAP_NET_RAW) != 0
}

// executable is this program as a shell takes it.
func executable() string {
	path, err := os.Executable()
	if err != nil || strings.ContainsAny(path, "'\n") {
		return "$(command -v dubbo-wire)"
	}
	if strings.ContainsAny(path, " \t\"$`\\*?[]{}()<>|&;!#~") {
		return "'" + path + "'"
	}
	return path
}

func hasFileCapability(path string) bool {
	n, err := unix.Getxattr(strings.Trim(path, "'"), "security.capability", nil)
	return err == nil && n > 0
}
