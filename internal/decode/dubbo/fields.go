package dubbo

import "dubbo-wire/internal/decode"

// Field is a part of a body that is read at one go. The order of a body's fields is written here only; it is that of
// DubboCodec.encodeRequestData and encodeResponseData:
//
//	for f := FirstField(k); f != NoField; f = f.Next(resultKind) { … }
type Field uint8

const (
	NoField          Field = iota // after the last one
	FieldEnvelope                 // the texts that a request starts with, see [EnvelopeTexts]
	FieldArguments                // as many values as the request has parameter types
	FieldResultKind               // one byte, 0 to 5
	FieldThrowable                // of kinds 0 and 3
	FieldResult                   // a value, of kinds 1 and 4; kinds 2 and 5 are null
	FieldAttachments              // of a request, and of kinds 3 to 5
	FieldErrorText                // of a response whose status is not OK
)

// EnvelopeTexts are the names of the texts that a request starts with, in their order.
var EnvelopeTexts = [...]string{"dubboVersion", "path", "serviceVersion", "method", "parameterTypes"}

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

// Next returns the field that follows f. resultKind is that of a result, once it was read.
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

// skip takes f, the first field of a body, without recording it.
func (f Field) skip(r decode.Reader) {
	switch f {
	case FieldEnvelope:
		for range EnvelopeTexts {
			r.SkipText()
		}
	case FieldResultKind:
		r.ResultKind()
	case FieldErrorText:
		r.SkipText()
	}
}

// read takes the texts of an envelope.
func (n *Names) read(r decode.Reader) {
	var null [len(EnvelopeTexts)]bool
	for i, s := range [...]*string{&n.ProtocolVersion, &n.Service, &n.Version, &n.Method, &n.Descriptor} {
		*s, null[i] = r.Text(EnvelopeTexts[i])
	}
	n.ServiceNull, n.VersionNull = null[1], null[2]
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
