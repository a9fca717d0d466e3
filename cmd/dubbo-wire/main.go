// Command dubbo-wire measures what Apache Dubbo calls weigh on the wire.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
