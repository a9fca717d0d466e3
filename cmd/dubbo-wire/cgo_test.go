//go:build cgo

package main

func init() { withCgo = true }
