// Command dubbo-wire measures what Apache Dubbo calls weigh on the wire.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	release := tuneMemory()
	// Writing to a closed pipe returns an error, so that unfinished files are removed. The program does not print it.
	signal.Ignore(syscall.SIGPIPE)
	code := run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}
