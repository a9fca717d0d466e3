//go:build !linux

package jvm_test

// parent has no test on this system.
func parent() {}
