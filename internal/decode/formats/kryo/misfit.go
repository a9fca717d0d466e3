package kryo

import (
	"slices"

	"dubbo-wire/internal/decode"
)

// classReader is a Reader that knows classes of the application.
type classReader struct {
	*Reader
	libraries [2]*library // by side
}

// WrittenBy implements decode.ClassReader.
func (r *classReader) WrittenBy(s decode.Side) {
	if l := r.libraries[s]; l != r.library {
		r.library = l
		clear(r.named)
		clear(r.allowed)
	}
}

// ResultType implements decode.ResultReader.
func (r *classReader) ResultType(s decode.Side, service, method string, parameters []string) string {
	return r.library.path.ReturnType(s, service, method, parameters)
}

// Misfits implements decode.ClassReader.
func (r *classReader) Misfits(err *decode.Error) bool {
	if r.misread {
		return true
	}
	return len(r.used) > 0 && (err.Cause == decode.Malformed || err.Cause == decode.Limit || r.garbage)
}

// Distrust implements decode.ClassReader.
func (r *classReader) Distrust(err *decode.Error) { r.distrust = err }

// distrusted stops at an object of the application if its class does not fit the bytes.
func (r *Reader) distrusted(cl *class, p decode.Place) bool {
	if r.distrust == nil || isJDK(cl.name) {
		return false
	}
	r.open(p, decode.Object, cl)
	r.Fail(decode.Unsupported, r.distrust.Expected, r.distrust.Found)
	return true
}

// use notes that fields of a class were read.
func (r *Reader) use(cl *class) {
	if !slices.Contains(r.used, cl) {
		r.ask(cl)
		r.used = append(r.used, cl)
	}
}

// strict reports whether bytes are checked more than Kryo does, since they may not be what the class path says.
func (r *Reader) strict() bool { return len(r.used) > 0 }
