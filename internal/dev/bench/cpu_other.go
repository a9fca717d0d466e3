//go:build !unix

package main

import "time"

var begin = time.Now()

// cpu is the time that has passed.
func cpu() time.Duration { return time.Since(begin) }
