//go:build !unix

package bench

import "time"

var begin = time.Now()

// CPUTime returns the time since the start of the program.
func CPUTime() time.Duration { return time.Since(begin) }
