package capture

import "testing"

// For tests outside of the package.

var InNamespace = inNamespace

// Run runs ip(8).
func Run(t *testing.T, args string) { ip(t, args) }

// Joined makes a pair of interfaces to another namespace and returns what sends bytes over it.
func Joined(t *testing.T, name string) (transfer func(size int)) {
	n := joined(t, name)
	return func(size int) { n.transfer(t, size) }
}
