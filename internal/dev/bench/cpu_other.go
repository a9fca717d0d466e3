//go:build !unix

package bench

import "time"

var begin = time.Now()

// CPUTime returns the time that has passed since the program began.
func CPUTime() time.Duration { return time.Since(begin) }
