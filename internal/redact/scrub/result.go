package scrub

import (
	"strconv"
	"strings"
)

// Result says what of a message became filler.
type Result struct {
	// Format is the serialization of the body, with its dialect; "" when it is not known.
	Format string
	// Filled has the bytes by cause.
	Filled []Filled
	// Refused is what of the message cannot be redacted, "" if there is nothing.
	Refused string
	// Left is how many bytes of numbers and dates stayed, since others would have changed what the bytes around them mean.
	Left int
}

// Filled is a number of bytes that became filler, and why.
type Filled struct {
	// Cause is the cause of a [decode.Error] ("cut", "lost", "malformed", "unsupported", "limit") for bytes that were not
	// decoded; "behind the end" of a message; "unknown serialization"; "user code" for what a class wrote itself; "event" for
	// data of a control message; "not replaceable" for values that were decoded but for which no strategy worked.
	Cause string
	Bytes int
}

const notReplaceable = "not replaceable"

// Bytes returns how many bytes became filler.
func (r Result) Bytes() (sum int) {
	for _, f := range r.Filled {
		sum += f.Bytes
	}
	return sum
}

// String returns the text for a packet's comment: "hessian2: 12 bytes replaced by filler (unsupported)"; "" if nothing became
// filler.
func (r Result) String() string {
	if len(r.Filled) == 0 && r.Left == 0 {
		return ""
	}
	var b strings.Builder
	if r.Format != "" {
		b.WriteString(r.Format + ": ")
	}
	for i, f := range r.Filled {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(f.Bytes))
		if b.WriteString(" bytes"); i == 0 {
			b.WriteString(" replaced by filler")
		}
		b.WriteString(" (" + f.Cause + ")")
	}
	if r.Left > 0 {
		if len(r.Filled) > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(r.Left) + " bytes of values that could not be replaced")
	}
	return b.String()
}

// addFilled counts n bytes of filler.
func (s *Scrubber) addFilled(cause string, n int) {
	for i := range s.filled {
		if s.filled[i].Cause == cause {
			s.filled[i].Bytes += n
			return
		}
	}
	if n > 0 {
		s.filled = append(s.filled, Filled{cause, n})
	}
}
