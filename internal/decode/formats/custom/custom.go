// Package custom is for bodies of serialization id 31, which Dubbo leaves to its users. Frames and bodies are measured; every
// body is opaque, and nothing of it is read or kept.
//
// Source: Dubbo 3 Constants (CUSTOM_MESSAGE_PACK_ID); no release has a Serialization for it.
package custom

import "dubbo-wire/internal/decode"

// Format is the id as reports list it.
var Format = decode.Format{
	ID:              31,
	Name:            "custom",
	Depth:           decode.DepthNone,
	Releases:        "3.0 and later, by users",
	Capture:         "own-3.3.6.pcap.zst",
	EmptyHeartbeats: true,
	New:             func() decode.Reader { return new(reader) },
}

// reader refuses every field.
type reader struct{ decode.Recorder }

func (r *reader) refuse() {
	if r.OK() {
		r.Fail(decode.Unsupported, "a serialization of Dubbo", "one of a user's own")
	}
}

// SkipText implements decode.Reader.
func (r *reader) SkipText() { r.refuse() }

// Text implements decode.Reader.
func (r *reader) Text(string) (s string, null bool) {
	r.refuse()
	return "", false
}

// ResultKind implements decode.Reader.
func (r *reader) ResultKind() byte {
	r.refuse()
	return 0
}

// Value implements decode.Reader.
func (r *reader) Value(decode.Label, string, int, string) { r.refuse() }

// Throwable implements decode.Reader.
func (r *reader) Throwable() { r.refuse() }

// Attachments implements decode.Reader.
func (r *reader) Attachments() { r.refuse() }
