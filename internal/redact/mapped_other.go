//go:build !linux

package redact

func mapMemory(n int) []byte { return make([]byte, n) }

func unmapMemory([]byte) {}
