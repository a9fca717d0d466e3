// Package bench holds the benchmarks and tests of the whole data path, from the bytes of a capture to sizes by method. Its
// input is traffic that package traffic generates. The programs in its folders measure what users run: gencapture writes a
// capture, and run compares dubbo-wire with tcpdump on it.
package bench
