package session

import (
	"os"
	"slices"
	"syscall"
)

// writableWithoutRights reports whether the modes of a folder let this user make files in it, without CAP_DAC_OVERRIDE.
// It returns true for a folder that does not exist: creating the file fails.
func writableWithoutRights(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return true
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	groups, _ := os.Getgroups()
	mode := info.Mode().Perm()
	switch {
	case int(owner.Uid) == os.Geteuid():
		return mode&0o300 == 0o300
	case int(owner.Gid) == os.Getegid() || slices.Contains(groups, int(owner.Gid)):
		return mode&0o030 == 0o030
	}
	return mode&0o003 == 0o003
}
