package decode

import "fmt"

// Cause says whose fault it is that a body was not decoded to its end.
type Cause uint8

const (
	// None: decoded to the end.
	None Cause = iota
	// Cut: the capture's snap length cut the packet.
	Cut
	// Lost: a packet was never captured.
	Lost
	// Malformed: the peer wrote bytes that the format does not allow.
	Malformed
	// Unsupported: the bytes may be right, this program cannot read them (yet, or without the classes).
	Unsupported
	// Limit: a bound of this program's own was reached (nesting, number of values).
	Limit
)

func (c Cause) String() string {
	return [...]string{"", "cut", "lost", "malformed", "unsupported", "limit"}[c]
}

// Error is the place and cause at which decoding of one body stopped. It never stops a report: what was understood
// before it stands.
type Error struct {
	Cause Cause
	// At is the offset within the body, in bytes, of the first byte that was not taken.
	At int
	// Wrong is the offset of the wrong byte where it lies after At, inside the value that starts at At; else 0.
	Wrong int
	// Expected and Found say what was expected there and what was found; Found may be empty.
	Expected, Found string
	// Class is the class whose definition is missing, as Class.getName returns its name, or its number where it is registered: #58.
	// It is empty if something else is wrong.
	Class string
	// Misfit is set if objects of the application were not read because their classes do not fit the body.
	Misfit *Misfit
}

// EndsByCode is what a reader found where the code of a class wrote bytes that cannot be divided without it.
const EndsByCode = "bytes whose end only its code tells"

// TwoOrders is what a reader found where a body fits both orders in which releases of a library write the fields of a class.
const TwoOrders = "two orders that fit: as declared, and by name"

// OneClass begins what a reader expected where several classes fit a value whose class is not on the wire.
const OneClass = "a value of one class that is a "

// NoType is what a reader found that needs the type that a method declares, if that is not known.
const NoType = "no type"

// Offset returns the offset within the body of the byte that a reader of the error should look at.
func (e *Error) Offset() int { return max(e.At, e.Wrong) }

func (e *Error) Error() string {
	s := fmt.Sprintf("%s at body offset %d", e.Cause, e.Offset())
	if e.Expected != "" {
		s += ": expected " + e.Expected
	}
	if e.Found != "" {
		s += ", found " + e.Found
	}
	if e.Misfit != nil && e.Misfit.Text() != "" {
		s += "; " + e.Misfit.Text()
	}
	return s
}
