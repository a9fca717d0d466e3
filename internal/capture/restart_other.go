//go:build !linux

package capture

// RestartUnprivileged does nothing: there is no live capture on this system.
func RestartUnprivileged(Privileges, func(Sockets) []string) error { return nil }
