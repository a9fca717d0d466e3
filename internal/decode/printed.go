package decode

import (
	"encoding/base64"
)

// Printing says what a [Printer] prints.
type Printing uint8

const (
	PrintNothing Printing = iota
	PrintValues           // the values, as [Tree.AppendJSON] does
	PrintParts            // the bytes by path, as [AppendPart] does for those of [Tree.EachPart]
)

// Printed is the JSON of a body that was read without a tree. It is the same as that of the body's tree.
type Printed struct {
	Printing Printing
	// Values are the arguments as a list, or the result; Attachments the attachments.
	Values, Attachments []byte
	// Parts are elements of a list, each after a comma.
	Parts []byte
	// Group is the attachment "group" of a request, if it is a string.
	Group string
}

// Reset forgets the body, and gives back memory that is too large to keep.
func (p *Printed) Reset() {
	p.Values, p.Parts, p.Attachments, p.Group = keptBuffer(p.Values), keptBuffer(p.Parts), keptBuffer(p.Attachments), ""
}

// Separate begins value i of the arguments.
func (p *Printed) Separate(i int) {
	switch {
	case p.Printing != PrintValues:
	case i == 0:
		p.Values = append(p.Values, '[')
	default:
		p.Values = append(p.Values, ',')
	}
}

// EndList ends the list of n arguments.
func (p *Printed) EndList(n int) {
	switch {
	case p.Printing != PrintValues:
	case n == 0:
		p.Values = append(p.Values, "[]"...)
	default:
		p.Values = append(p.Values, ']')
	}
}

// maxPrinted is how large a buffer may be that is kept for the next body, in bytes.
const maxPrinted = 1 << 20

func keptBuffer(b []byte) []byte {
	if cap(b) > maxPrinted {
		return nil
	}
	return b[:0]
}

// Printer is a [Summer] that prints usual values as it takes them. Its error at any other value only means that a tree is needed.
type Printer interface {
	Summer
	// Print makes the reader print the values of the body to p, until the next Reset. It has no tree.
	Print(p *Printed)
}

// What stands before and after the path of a part, and ends it after the number of its bytes.
const (
	PartBegin  = `{"path":"`
	PartMiddle = `","bytes":`
	PartEnd    = `}`
)

// AppendPart appends a part as JSON.
func AppendPart[T string | []byte](dst []byte, path T, bytes int) []byte {
	dst = append(dst, PartBegin[:len(PartBegin)-1]...) // without the quote
	dst = AppendString(dst, path)
	dst = append(dst, PartMiddle[1:]...)
	dst = AppendInt(dst, int64(bytes))
	return append(dst, PartEnd...)
}

// PartPrinter prints the sizes of the parts of a body that a Reader takes in the order of their bytes, without a tree: what [Tree.EachPart] would yield. Its
// methods are called where the Reader calls those of its [Recorder].
type PartPrinter struct {
	Out     []byte
	path    []byte // of the open container, with what stands in front of a path
	ends    []int  // the lengths of the paths around the open containers
	segment []byte // scratch
	// The last part: where its path, and the number of its bytes, are in Out.
	from, to, bytes int
}

// Begin begins a value of a body, which is an argument if it is labelled ByIndex; out has the parts before it.
func (p *PartPrinter) Begin(out []byte, l Label) {
	p.Out, p.ends, p.bytes = out, p.ends[:0], 0
	p.path = append(append(p.path[:0], ','), PartBegin...)
	if l == ByIndex {
		p.Open(ByField, "args", 0)
	}
}

// Open begins a container.
func (p *PartPrinter) Open(l Label, name string, index int) {
	end := len(p.path)
	p.enter(l, name, index)
	p.ends = append(p.ends, end)
}

// Close ends the container opened last.
func (p *PartPrinter) Close() {
	p.path = p.path[:p.ends[len(p.ends)-1]]
	p.ends = p.ends[:len(p.ends)-1]
}

// HasRoom reports whether more parts may be printed, and the path of the open container is far enough below the limit of a path for a segment that
// is escaped.
func (p *PartPrinter) HasRoom() bool {
	return len(p.path) <= maxPath/2 && len(p.Out) <= MaxPrintedParts
}

// Limits of what is printed without a tree.
const (
	// MaxPrintedDepth is how deep containers are nested; a map may print with three levels.
	MaxPrintedDepth = 100
	// MaxPrintedBody limits bodies, in bytes, so that they have fewer values than a tree takes.
	MaxPrintedBody = DefaultMaxNodes/2 - 64
	// MaxPrintedParts limits the parts of a body, in bytes. A record has a copy of them.
	MaxPrintedParts = 16 << 20
)

// enter appends a segment to the path.
func (p *PartPrinter) enter(l Label, name string, index int) {
	if len(p.ends) > 0 && (l == ByIndex || l == ByMember || l == ByRole || isUsualName(name)) { // as mostly: nothing is escaped
		p.path = AppendSegment(p.path, l, name, index)
		return
	}
	p.segment = append(p.segment[:0], "x"[:min(len(p.ends), 1)]...) // the path of what is in no container has no dot
	root := len(p.segment)
	p.segment = AppendSegment(p.segment, l, name, index)
	p.path = AppendEscaped(p.path, p.segment[root:])
}

// isUsualName reports whether the name of a field or an entry is its segment of a path, in JSON as well.
func isUsualName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c|0x20 < 'a' || c|0x20 > 'z' {
			if c-'0' > 9 && c != '_' && c != '$' && c != '-' {
				return false
			}
		}
	}
	return len(name) > 0 && len(name) <= maxSegment && name != "opaque" && name != "missing"
}

// Part prints n bytes of a value.
func (p *PartPrinter) Part(l Label, name string, index, n int) {
	if n == 0 {
		return
	}
	end := len(p.path)
	p.enter(l, name, index)
	p.Own(n)
	p.path = p.path[:end]
}

// Own prints n bytes of the open container itself. Neighbours with one path are one part.
func (p *PartPrinter) Own(n int) {
	if n == 0 {
		return
	}
	if p.bytes > 0 && string(p.Out[p.from:p.to]) == string(p.path) {
		p.bytes += n
		p.Out = p.Out[:p.to]
	} else {
		p.from, p.bytes = len(p.Out), n
		p.Out = append(p.Out, p.path...)
		p.to = len(p.Out)
	}
	p.Out = append(p.Out, PartMiddle...)
	p.Out = append(AppendInt(p.Out, int64(p.bytes)), PartEnd...)
}

// MaxPath is the length of a path, in bytes, from which on it gets no further segments.
const MaxPath = maxPath

// MaxJSON bounds the printed values of a message, in bytes.
const MaxJSON = maxJSON

// AppendRaw appends bytes that are not a text.
func AppendRaw(dst, raw []byte) []byte {
	dst = append(dst, `{"@bytes":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, raw)
	return append(dst, `"}`...)
}

// AppendReference appends a reference to the value that was printed at a path.
func AppendReference[T string | []byte](dst []byte, path T) []byte {
	dst = append(dst, `{"@ref":`...)
	return append(AppendString(dst, path), '}')
}
