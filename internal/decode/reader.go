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
	// Opaque and is not an error. Where the extent cannot be known the reader fails with cause Unsupported.
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

// IntReader is a Reader of a serialization in which forks of Dubbo write a number of arguments.
type IntReader interface {
	// Int takes one int that was written by writeInt and records it as field name.
	Int(name string) int32
}

// WholeReader is a Reader of a serialization in which a length or a line end separates the values of a body, which a body that is
// one value does not have.
type WholeReader interface {
	// Whole takes all bytes of the body as one value and records it under the given label.
	Whole(l Label, name string, index int)
}

// WholePrinter is a WholeReader that prints usual bodies as it counts them. Its error at any other body only means that a tree is needed.
type WholePrinter interface {
	WholeReader
	Summer
	// PrintWhole makes Whole print the value to p, until the next Reset. It has no tree.
	PrintWhole(p *Printed)
}

// MethodReader is a WholeReader of a serialization in which a body does not say of which type it is, but the method does.
type MethodReader interface {
	WholeReader
	// SetMethod says of which method the bodies are messages that Whole takes, from the next Reset on. An empty method is not known.
	SetMethod(writer Side, service, method string)
}

// ReleaseReader is a Reader of a serialization that releases of Dubbo write differently.
type ReleaseReader interface {
	// Dubbo3 is called once, for a reader of values that only Dubbo 3 writes, and without the fields before and after them that tell
	// the release.
	Dubbo3()
}

// Side is a peer of a call.
type Side uint8

const (
	Consumer Side = iota // writes requests
	Provider             // writes responses
)

func (s Side) String() string { return [...]string{"consumer", "provider"}[s] }

// ClassReader is a Reader of a serialization that does not describe its objects, and that was given the application's classes.
type ClassReader interface {
	// WrittenBy says who writes the bodies from the next Reset on, and so whose classes they have.
	WrittenBy(s Side)
	// Misfits is called after a body that is whole was read. err is the error that reading ended with, or says where the values
	// ended if that is not the end of the body. It reports whether the cause may be that the writer had other classes.
	// Then nothing that was read with them is certain, and the body is read again, after Distrust.
	Misfits(err *Error) bool
	// Distrust makes the reader read bodies as if it had no classes of the application, until it is called with nil. Its errors at
	// their objects then say what err says.
	Distrust(err *Error)
}

// ListReader is a ClassReader of a serialization in which classes may be registered.
type ListReader interface {
	// Listed reports whether a list of registered classes said, since the last Reset, which class a number is.
	Listed() bool
	// SetRefuted says whether earlier bodies of the connection had what Refuted reports, before a body is read. Then numbers have no class.
	SetRefuted(bool)
	// Refuted reports whether the list is not the peer's, as far as this body and earlier ones tell: a value is surely of a number whose
	// class it cannot have.
	Refuted() bool
}

// ResultReader is a Reader of a serialization that does not write the class of a result, and that was given the application's classes.
type ResultReader interface {
	// ResultType returns the descriptor of the type that a method returns to a peer, or sends to the other one, "" if it is not known.
	// parameters are the descriptors of its parameters; an empty one is not known.
	ResultType(writer Side, service, method string, parameters []string) string
}

// Numbers are registered classes by their number, as bodies of a connection told them. They do not change.
type Numbers map[int]string

// NumberReader is a ClassReader that finds out the numbers of registered classes, where only one assignment lets it read a body to its
// end.
type NumberReader interface {
	// SetNumbers says what earlier bodies of the connection told, before a body is read. It may be nil.
	SetNumbers(n Numbers)
	// Numbers returns that and what the body told.
	Numbers() Numbers
}

// FieldOrder is an order in which a library writes the fields of a class.
type FieldOrder uint8

const (
	OrderUnknown FieldOrder = iota
	AsDeclared
	ByName
)

// FieldOrders are the orders of each side of a connection.
type FieldOrders [2]FieldOrder

// OrderReader is a ClassReader of a serialization whose library writes fields in another order since some release, which only a body
// tells that can be read in one of them.
type OrderReader interface {
	// SetOrders says what earlier bodies of the connection told, before a body is read.
	SetOrders(o FieldOrders)
	// Orders returns that and what the body told.
	Orders() FieldOrders
}

// OlderReader is a Reader of a serialization that an older release of its library writes in a form that cannot be told by the start of
// a body.
type OlderReader interface {
	// SetOlder makes the reader read bodies as the older release wrote them, from the next Reset on.
	SetOlder(older bool)
	// MayDiffer reports whether the body had, since the last Reset, something that the other release may have written differently.
	MayDiffer() bool
}

// VersionReader is a Reader of a serialization of which a body says the version.
type VersionReader interface {
	// SetVersion sets the version of the body, 1 or 2, after Reset, which sets it to 2.
	SetVersion(version int)
}

// AttachmentFinder is a Reader that cannot tell where values end without the application's classes, but can find the
// attachments from the end of the body.
type AttachmentFinder interface {
	// FindAttachments looks from offset from on for the one place where attachments start and end exactly at the
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

// Judge compares what the bytes of a body tell, the zero value for nothing, with what a format would write.
func Judge[T comparable](told, own T) Verdict {
	var nothing T
	switch told {
	case nothing:
		return Unsure
	case own:
		return Own
	}
	return Foreign
}

// Format is one serialization, as the list in package formats names it.
type Format struct {
	// ID is the serialization id in Dubbo's header (5 bits).
	ID uint8
	// Name is the name that users configure and reports print.
	Name string
	// Dialect tells it from others with the same id, or with the same name and another id: "Kryo 5". Reports print it after
	// the name. The first format of an id has none.
	Dialect string
	// Tell says by the start of b whether a body was written in this format and not in another one with its id. b may be
	// cut short. Tell is called for every body if an id has several formats; nil is Unsure.
	Tell func(b []byte, k BodyKind) Verdict
	// TellWhole is Tell with a complete body, for what its start does not tell. It is called until a connection's dialect is
	// known.
	TellWhole func(b []byte, k BodyKind) Verdict
	// Depth is how much of it is understood.
	Depth Depth
	// Classes is how much of it is understood with the application's classes; 0 if its readers do not use them.
	Classes Depth
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
	// Skim returns where the first n texts of b end, judged by their lengths only, or -1 if these do not tell. It may be
	// wrong: the bytes up to there are only compared with bytes that were read as n texts before. A format has it only if the
	// meaning of a body's start does not depend on what follows. nil is always -1.
	Skim func(b []byte, n int) int
	// SkimKind returns the result kind that b starts with, and its size in bytes, or -1 if only its Reader tells.
	SkimKind func(b []byte) (kind int8, size int)
	// Counts: its Reader walks without a tree as it does with one, so it counts what bytes are for without one; see
	// [Summer].
	Counts bool
	// Optimized: forks of Dubbo write the number of arguments in place of their types, since the objects tell these.
	Optimized bool
	// TextsInPlace: each text stands where it is used. Its senders write no references to texts and have no pools of them.
	TextsInPlace bool
	// TypedResults: its readers need the type that a method returns, and can find it: they are a [ResultReader].
	TypedResults bool
	// NoAttachments: its senders write no attachments.
	NoAttachments bool
	// Scrub replaces values on the wire by others of the same length; nil if nothing but the tree tells them.
	Scrub ScrubFunc
	// ScrubBody returns what replaces the values of a body as Scrub does, all at once and without a tree; nil if nothing does.
	ScrubBody func() BodyScrubber
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
