package scrub

import (
	"strconv"
	"strings"
)

// Note says what of a frame became filler.
type Note struct {
	// Format is the serialization of the body, with its dialect; "" when it is not known.
	Format string
	// Filled are the bytes by cause.
	Filled []Filled
	// Left is the bytes of numbers and dates that stayed as they were, since others would have changed what the bytes around
	// them mean.
	Left int
}

// Filled is so many bytes that became filler.
type Filled struct {
	// Cause is why: "cut", "lost", "malformed", "unsupported" and "limit" as of a body that could not be decoded; "behind the
	// end" of a message; "unknown serialization"; "user code" for what a class wrote itself; "event" for data of an event;
	// "not replaceable" for values that were read, but could not be replaced by others.
	Cause string
	Bytes int
}

const notReplaceable = "not replaceable"

// Bytes returns how many bytes became filler.
func (n Note) Bytes() (sum int) {
	for _, f := range n.Filled {
		sum += f.Bytes
	}
	return sum
}

// String is the note as a comment of a packet: "hessian2: 12 bytes replaced by filler (unsupported)"; "" when there is
// nothing to note.
func (n Note) String() string {
	if len(n.Filled) == 0 && n.Left == 0 {
		return ""
	}
	var b strings.Builder
	if n.Format != "" {
		b.WriteString(n.Format + ": ")
	}
	for i, f := range n.Filled {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(f.Bytes))
		if b.WriteString(" bytes"); i == 0 {
			b.WriteString(" replaced by filler")
		}
		b.WriteString(" (" + f.Cause + ")")
	}
	if n.Left > 0 {
		if len(n.Filled) > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n.Left) + " bytes of values that could not be replaced")
	}
	return b.String()
}

// note adds n bytes of filler.
func (s *Scrubber) note(cause string, n int) {
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
