package filter

import "fmt"

// Error says in one line what is wrong with an expression, and where.
type Error struct {
	Column int    // of the expression's text, from 1; 0 is all of it
	Text   string // what is wrong and what to do
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return e.Text
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Text)
}

// useDDD is what to do about words that only libpcap knows. The interface has to be
// named: for a file's packets tcpdump writes another program.
const useDDD = "; give the output of tcpdump -i INTERFACE -ddd 'EXPRESSION' instead"

// errorAt returns the error at a token.
func errorAt(t token, format string, args ...any) *Error {
	return &Error{Column: t.column, Text: fmt.Sprintf(format, args...)}
}

func unsupported(column int, what string) *Error {
	return &Error{Column: column, Text: what + " is not supported" + useDDD}
}
