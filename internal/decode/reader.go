package decode

// MaxDepth is how deep values may be nested before a decoder stops with cause Limit: deeper than Java's own
// serializers get with their default stack on application data, and shallow enough to recurse.
const MaxDepth = 1000

// Reader reads the fields of one body, in the order in which the protocol asks for them. The order itself is the
// protocol's (for Dubbo: package dubbo); a Reader knows only how its serialization writes a string, an object, a map.
// It records what it read in the Tree given to Reset. After its first error every method does nothing.
//
// A Reader is reused from body to body and must not keep anything of the body beyond the next Reset.
type Reader interface {
	// Reset starts a body. t may be nil: then values are only walked. short is the cause to report where the body
	// ends early: Malformed when it is whole, Cut or Lost when the capture lacks its end.
	Reset(body []byte, short Cause, t *Tree)

	// SkipText takes one string as Text does and neither decodes nor records it.
	SkipText()
	// Text takes one string that was written by writeUTF and records it as field name. null is true where the format
	// can say so.
	Text(name string) (s string, null bool)
	// ResultKind takes the one byte (written by writeByte) that starts a response, 0 to 5, and records it as "flag".
	ResultKind() byte
	// Value takes one object written by writeObject, declared as the JVM descriptor typ ("" when not known), and
	// records it under the given label. A value whose extent is known but whose content is not decoded is recorded as
	// Opaque and is no error. Where the extent cannot be known the reader fails with cause Unsupported.
	Value(l Label, name string, index int, typ string)
	// Throwable takes the exception of a response, recorded as field "exception".
	Throwable()
	// Attachments takes the map at the end of a request or response, recorded as field "attachments".
	Attachments()

	// Offset returns the bytes of the body taken so far.
	Offset() int
	// Err returns where and why reading stopped, nil if it did not.
	Err() *Error
}

// AttachmentFinder is a Reader whose values have no end that can be seen without the application's classes, but
// whose attachments can be found from the end of the body.
type AttachmentFinder interface {
	// FindAttachments looks at or behind offset from for the one place where attachments start and end exactly at the
	// end of the body. When there is exactly one, it forgets the error, moves there (Attachments may follow) and
	// returns the place.
	FindAttachments(from int) (at int, ok bool)
}

// Faulter is a Reader that can tell why a value of known extent is opaque.
type Faulter interface {
	// Fault returns where and why the first value of the body could not be read, nil if there is none.
	Fault() *Error
}

// Depth says how much of a serialization's bodies is understood.
type Depth uint8

const (
	// DepthNone: frames are measured, bodies opaque.
	DepthNone Depth = iota
	// DepthEnvelope: service, method, types, result kind and, where possible, attachments; values opaque.
	DepthEnvelope
	// DepthClasses: every byte is owned but those of objects of the application's classes, whose layout is not written.
	DepthClasses
	// DepthFull: every byte is owned.
	DepthFull
)

func (d Depth) String() string {
	return [...]string{"sizes", "envelope", "all but classes", "full"}[d]
}

// BodyKind says what a body is for, as far as its header tells.
type BodyKind uint8

const (
	BodyRequest BodyKind = iota
	BodyResult           // a response of status OK: a result kind, then by kind a value and attachments
	BodyText             // a response of another status: one string
	BodyEvent            // a heartbeat, a read-only event, the answer to one
)

// Verdict is what a format says of a body.
type Verdict int8

const (
	Foreign Verdict = iota - 1 // not of this format
	Unsure
	Own
)

// Format is one serialization, as the list in package formats names it.
type Format struct {
	// ID is the serialization id in Dubbo's header (5 bits).
	ID uint8
	// Name is the name users configure, which reports print.
	Name string
	// Dialect tells it from others with the same id, or the same name under another id: "Kryo 5". Reports print it behind
	// the name. The first format of an id has none.
	Dialect string
	// Tell says whether a body was written in this format and not in another one with its id, by a few bytes at the start
	// of b, which may be cut short. It is asked for every body where an id has several formats; nil is Unsure.
	Tell func(b []byte, k BodyKind) Verdict
	// TellWhole is Tell for what only the rest of a body gives away; b is a whole body. It is asked until a connection's
	// dialect is known.
	TellWhole func(b []byte, k BodyKind) Verdict
	// Depth is how much of it is understood.
	Depth Depth
	// Releases says which Dubbo releases carry it.
	Releases string
	// Capture is a committed capture that proves it (file name below testdata/captures).
	Capture string
	// Heartbeats are the bodies that its senders write for a heartbeat (event data null); an empty body always is one.
	Heartbeats [][]byte
	// EmptyHeartbeats: its senders may write an empty body for a heartbeat, since they cannot write null.
	EmptyHeartbeats bool
	// Starts says how its bodies start.
	Starts Starts
	// ThrowableMessage is the name of the field with an exception's message, where that is neither message nor
	// detailMessage. If that field is an object, it is the exception itself.
	ThrowableMessage string
	// Skim says where the first n texts of b would end, without a look at more than their lengths; -1 where that is not to be
	// had at a glance. It may be wrong: nothing is taken from there but bytes that were read as n texts before. A format
	// has it only if what a body's start means does not depend on what follows. nil is never.
	Skim func(b []byte, n int) int
	// Counts: its Reader walks without a tree as it does with one, so that what bytes are for is told without one; see
	// [Summer].
	Counts bool
	// NoAttachments: its senders write none, so that a message has none.
	NoAttachments bool
	// Scrub replaces values on the wire by others of the same length; nil where nothing is known but the tree.
	Scrub ScrubFunc
	// New returns a Reader.
	New func() Reader
}

// FullName is the name with the dialect: "kryo (Kryo 5)".
func (f *Format) FullName() string {
	if f.Dialect == "" {
		return f.Name
	}
	return f.Name + " (" + f.Dialect + ")"
}
