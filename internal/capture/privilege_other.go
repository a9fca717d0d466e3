//go:build !linux

package capture

import "runtime"

// DropPrivileges does nothing without a user: there is no live capture on this system, and so nothing to give up.
func DropPrivileges(p Privileges) error {
	if p.User == "" {
		return nil
	}
	return &Error{Cause: NotSupported, File: p.User, Text: "the user cannot be changed to " + p.User + " on " + runtime.GOOS + ", only on Linux"}
}
