package filter

import "fmt"

// Error describes in one line what is wrong with an expression, and where.
type Error struct {
	Column int    // in the text of the expression, from 1; 0: the whole expression
	Text   string // what is wrong and what to do
}

func (e *Error) Error() string {
	if e.Column == 0 {
		return e.Text
	}
	return fmt.Sprintf("column %d: %s", e.Column, e.Text)
}

// useDDD is the advice for words that only libpcap knows. The interface must be named, because for a file tcpdump
// prints another program.
const useDDD = "; give the output of tcpdump -i INTERFACE -ddd 'EXPRESSION' instead"
