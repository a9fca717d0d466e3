// Package exit has the program's exit codes and the errors that carry them. An error that ends the program goes in; its code
// and the lines for standard error come out. "dubbo-wire help exit-codes" prints the meaning of each code. Errors hold only
// their code and text. A closed pipe is not an error here, as for other Unix filters.
package exit

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"dubbo-wire/internal/capture"
)

const (
	Done     = 0
	Nothing  = 1 // nothing was readable, there are no frames, or nothing matched
	Usage    = 2
	Coverage = 3 // coverage below --min-coverage, or sizes drifted from the golden file
	Partly   = 4 // an input ended early; the rest was reported
)

// Error is an error that ends the program with Code. Text is for standard error, without the program's name. It may have
// several lines or be empty.
type Error struct {
	Code int
	Text string
}

func (e *Error) Error() string { return e.Text }

// Errorf returns an error that ends the program with code.
func Errorf(code int, format string, args ...any) error {
	return &Error{code, fmt.Sprintf(format, args...)}
}

// Usagef returns the error of a wrong command line, or of a place that cannot be written to.
func Usagef(format string, args ...any) error { return Errorf(Usage, format, args...) }

// CodeOf returns the exit code of an error: that of an Error, Done for nil and for a pipe whose reader is gone, Nothing for an
// input that cannot be read.
func CodeOf(err error) int {
	var e *Error
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return Done
	case errors.As(err, &e):
		return e.Code
	case capture.CauseOf(err) != 0:
		return Nothing
	}
	return Usage
}

// Report writes an error to stderr and returns its exit code. The program's name precedes each line that is not indented.
func Report(err error, stderr io.Writer) int {
	code := CodeOf(err)
	if code == Done || err.Error() == "" {
		return code
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if !strings.HasPrefix(line, " ") {
			line = "dubbo-wire: " + line
		}
		fmt.Fprintln(stderr, line)
	}
	return code
}
