// Package bench holds the benchmarks and tests of the whole line, from a capture's bytes to sizes by method, on traffic
// that package traffic makes. The programs beside it measure what users run: gencapture writes a capture, run compares
// dubbo-wire with tcpdump on it.
package bench
