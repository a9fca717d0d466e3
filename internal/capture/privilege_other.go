//go:build !linux

package capture

import "runtime"

// DropPrivileges does nothing unless a user is given: this system has no live capture, and so there is nothing to drop.
func DropPrivileges(p Privileges) error {
	if p.User == "" {
		return nil
	}
	return &Error{Cause: NotSupported, File: p.User, Text: "the user cannot be changed to " + p.User + " on " + runtime.GOOS + ", only on Linux"}
}
