//go:build !linux

package capture

// StartAgain does nothing: there is no live capture on this system.
func StartAgain(Privileges, func(Sockets) []string) error { return nil }
