//go:build !linux

package capture

// RestartUnprivileged does nothing: this system has no live capture.
func RestartUnprivileged(Privileges, func(Sockets) []string) error { return nil }
