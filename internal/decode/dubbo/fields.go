package dubbo

import "dubbo-wire/internal/decode"

// Field is a part of a body that is read in one step. Only this file has the order of the fields. It is that of
// DubboCodec.encodeRequestData and encodeResponseData:
//
//	for f := FirstField(k); f != NoField; f = f.Next(resultKind) { … }
type Field uint8

const (
	NoField          Field = iota // after the last one
	FieldEnvelope                 // the texts that a request starts with, see [EnvelopeTexts] and [Layout]
	FieldArguments                // as many values as the request has parameter types
	FieldResultKind               // one byte, 0 to 5
	FieldThrowable                // of kinds 0 and 3
	FieldResult                   // a value, of kinds 1 and 4; kinds 2 and 5 are null
	FieldAttachments              // of a request, and of kinds 3 to 5
	FieldErrorText                // of a response whose status is not OK
)

// EnvelopeTexts are the names of the texts that a request starts with, in their order.
var EnvelopeTexts = [...]string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"}

// Layout is the form of the end of a request's envelope. Dubbo writes the parameter types there as the last text, and its forks
// write something else. The first four texts, the arguments and the attachments are the same in all of them.
type Layout uint8

const (
	LayoutDubbo Layout = iota
	// LayoutDubbox is that of Dubbox 2.8.4, LayoutOlderDubbox that of the releases before it. Of serializations that are not
	// [decode.Format.Optimized] the latter is Dubbo's.
	LayoutDubbox
	LayoutOlderDubbox
	// LayoutUnknown has the four texts. The order of the bytes after them is unknown.
	LayoutUnknown
)

// layouts describes what follows the method.
var layouts = [...]struct {
	name string // "" for Dubbo itself
	// counts: a number of arguments, in place of their types where an optimized serialization has arguments that tell their types;
	// else -1. types: the types as a text, after -1 if there is a number.
	counts, types bool
}{
	LayoutDubbo:       {"", false, true},
	LayoutDubbox:      {"Dubbox", true, true},
	LayoutOlderDubbox: {"Dubbox before 2.8.4", true, false},
	LayoutUnknown:     {"another Dubbo fork's layout", false, false},
}

// maxArguments is the maximum number of parameters of a Java method.
const maxArguments = 255

// argumentCount reads the number of arguments in a layout that has one. It returns -1 if there is none.
func argumentCount(r decode.Reader) int {
	n, ok := r.(decode.IntReader)
	if !ok {
		return maxArguments + 1
	}
	return int(n.Int("argumentCount"))
}

// writes reports whether a serialization may have bodies in the layout.
func (l Layout) writes(r *serialization) bool {
	_, counts := r.reader().(decode.IntReader)
	return !layouts[l].counts || counts && (layouts[l].types || r.format.Optimized)
}

// FirstField returns the first field of a body. Events have none.
func FirstField(k decode.BodyKind) Field {
	switch k {
	case decode.BodyRequest:
		return FieldEnvelope
	case decode.BodyResult:
		return FieldResultKind
	case decode.BodyText:
		return FieldErrorText
	}
	return NoField
}

// Next returns the field after f. resultKind is the kind of a result, after it was read.
func (f Field) Next(resultKind byte) Field {
	switch f {
	case FieldEnvelope:
		return FieldArguments
	case FieldArguments:
		return FieldAttachments
	case FieldResultKind:
		switch resultKind {
		case 0, 3:
			return FieldThrowable
		case 1, 4:
			return FieldResult
		case 5:
			return FieldAttachments
		}
	case FieldThrowable, FieldResult:
		if resultKind >= 3 {
			return FieldAttachments
		}
	}
	return NoField
}

// skip reads f, the first field of a body, without recording it. r has no tree.
func (f Field) skip(r decode.Reader, l Layout) {
	switch f {
	case FieldEnvelope:
		for range len(EnvelopeTexts) - 1 {
			r.SkipText()
		}
		if layouts[l].types && (!layouts[l].counts || argumentCount(r) == -1) {
			r.SkipText()
		} else if layouts[l].counts && !layouts[l].types {
			argumentCount(r)
		}
	case FieldResultKind:
		r.ResultKind()
	case FieldErrorText:
		r.SkipText()
	}
}

// read reads the envelope.
func (n *Names) read(r decode.Reader, l Layout, optimized bool) {
	var null [len(EnvelopeTexts)]bool
	for i, s := range [...]*string{&n.ProtocolVersion, &n.Service, &n.Version, &n.Method} {
		*s, null[i] = r.Text(EnvelopeTexts[i])
	}
	n.ServiceNull, n.VersionNull = null[1], null[2]
	count := -1
	if layouts[l].counts {
		count = argumentCount(r)
	}
	switch {
	case l == LayoutUnknown:
		n.unnumbered = true
	case count > maxArguments || count < -1 || count >= 0 && !optimized:
		n.malformed = true
	case count >= 0:
		n.Descriptors = make([]string, count)
	case layouts[l].types:
		const last = len(EnvelopeTexts) - 1
		n.Descriptor, n.malformed = r.Text(EnvelopeTexts[last])
	default:
		n.unnumbered = true
	}
}

func bodyKind(h *Header) decode.BodyKind {
	switch {
	case h.Event():
		return decode.BodyEvent
	case h.Request():
		return decode.BodyRequest
	case h.Status == StatusOK:
		return decode.BodyResult
	}
	return decode.BodyText
}

// firstField returns the first field of the body after h.
func (h *Header) firstField() Field { return FirstField(bodyKind(h)) }
