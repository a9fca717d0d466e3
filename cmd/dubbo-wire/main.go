// Command dubbo-wire measures what Apache Dubbo calls weigh on the wire.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A closed pipe is an error like others, so that unfinished files are removed; nothing is said of it.
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
