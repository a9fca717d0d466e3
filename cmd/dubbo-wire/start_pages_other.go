//go:build !linux

package main

// dropStartPages does nothing where it is not known how.
func dropStartPages() {}
