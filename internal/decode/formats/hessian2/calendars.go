package hessian2

import "bytes"

// A Calendar is written as a handle in its place, and caucho's writer counts both in the object table: the Calendar, then
// the handle. So does hessian-lite 4, which came from it (Dubbo 3.3), while hessian-lite before that counts one. Java's
// readers count one, and fail on references that follow, or take another object; the numbering here is the writer's.
//
// caucho's handle has a package of its own. Of hessian-lite's it cannot be seen which release wrote it, so such objects
// are counted once, and where a reference follows one the rest of the body has to tell.
var (
	cauchoCalendar = []byte("com.caucho.hessian.io.CalendarHandle")
	liteCalendar   = []byte("com.alibaba.com.caucho.hessian.io.CalendarHandle")
)

// isClass judges the class name in b, an encoded string.
func isClass(b, name []byte) bool {
	return bytes.HasSuffix(b, name) && len(b)-len(name) <= 3 // the string's own length
}

// Between 3.2.4 and 3.2.13 hessian-lite writes an ArrayList, which hardly a body of lists is without, with its class,
// before and since without.
var typedList = []byte("\x13java.util.ArrayList")

// countsTwice reports whether a Calendar of hessian-lite has two places in the object table, given a reference: its index
// may be beyond a table in which it has one. Else the writer is hessian-lite 4 if it writes lists without a class, and is
// of a Dubbo that knows its protocol's version: 2.7.0 alone does and has hessian-lite 3.2.3.
func (r *Reader) countsTwice(index int) bool {
	switch {
	case r.once:
		return false
	case r.twice || index >= r.objectCount:
		r.twice = index < r.objectCount+len(r.calendars)
		return r.twice
	case bytes.Contains(r.c.Buf, typedList):
		r.once = true
		return false
	}
	r.twice = r.untyped && len(r.c.Buf) > 0 &&
		(bytes.HasPrefix(r.c.Buf, protocolVersion) || r.c.Buf[0] >= firstWithAttachments && r.c.Buf[0] <= lastWithAttachments)
	return r.twice
}

var protocolVersion = []byte("\x052.0.2")

// Result kinds 3 to 5, which only such a Dubbo writes.
const (
	firstWithAttachments = 0x93
	lastWithAttachments  = 0x95
)

// counted returns the index in our table, where Calendars of hessian-lite have one place, of the object that a reference
// means.
func (r *Reader) counted(index int) int {
	if len(r.calendars) == 0 || index <= r.calendars[0] || !r.countsTwice(index) {
		return index
	}
	more := 0
	for _, c := range r.calendars {
		if index <= c+more {
			break
		}
		more++
	}
	return index - more
}
