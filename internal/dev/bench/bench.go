// Package bench holds the benchmarks and tests of the whole data path, from the bytes of a capture to sizes by method. Its
// input is traffic that package traffic generates. The programs in its folders measure what users run: gencapture writes a
// capture, and run compares dubbo-wire with tcpdump on it.
package bench

import (
	"os"
	"strings"
)

// CPUModel returns the name of the processor, where the system tells.
func CPUModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "processor unknown"
}
