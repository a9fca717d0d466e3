package traffic

import (
	"flag"
	"fmt"

	"dubbo-wire/internal/term"
)

// ParseSize reads a size of a capture, such as 1GB or 100MiB.
func ParseSize(s string) (int64, error) {
	n, err := term.ParseBytes(s)
	if err != nil || n <= 0 || n > 1e15 {
		return 0, fmt.Errorf("%q is no size; write it like 100MB or 1GB", s)
	}
	return n, nil
}

// SizeVar defines the flag -size of a program.
func SizeVar(to *int64, usage string) {
	flag.Func("size", usage, func(s string) (err error) {
		*to, err = ParseSize(s)
		return err
	})
}
