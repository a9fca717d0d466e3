package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/report"
)

// damage is the place where decoding stopped, and why.
type damage struct {
	at              int // from the frame's first byte
	cause           decode.Cause
	expected, found string
	// likely is the likely cause, "" if the bytes do not tell it.
	likely string
	// row is the first row at or after that place, len(rows) if there is none.
	row int
}

// stops reports whether bytes were wrong or missing; other bytes are only not supported.
func (d *damage) stops() bool { return d.cause != decode.Unsupported }

func damageOf(f *Frame) *damage {
	err := f.subject.Row.Msg.Err
	if err == nil {
		return nil
	}
	d := &damage{at: f.contentAt() + err.Offset(), cause: err.Cause, row: len(f.rows)}
	d.expected, d.found = report.ErrorTexts(err, f.redact)
	for i := range f.rows {
		if r := &f.rows[i]; r.len > 0 && r.off >= f.contentAt()+err.At {
			d.row = i
			break
		}
	}
	d.likely = f.likely(err)
	return d
}

// likely names the likely cause of err, "" if the bytes do not tell it.
func (f *Frame) likely(err *decode.Error) string {
	m := f.subject.Row.Msg
	if misfit := err.Misfit; misfit != nil {
		text := misfit.Text()
		if text == "" {
			return "the body does not fit " + misfit.Reason()
		}
		advice := "bring the writer's classes: --classpath " + misfit.Writer.String() + "=PATH"
		if misfit.Listed {
			text += ", or registers other classes than listed"
			advice += ", or its list: --register FILE, --optimizer CLASS"
		}
		return text + "; " + advice
	}
	switch err.Cause {
	case decode.Cut:
		return "the capture kept only the start of each packet (a snap length): record with tcpdump -s 0"
	case decode.Lost:
		if m.BodyLen == 0 && !m.Ends {
			return "the sender was stopped or could not write the message, or recording ended before it; less likely, packets were dropped while recording"
		}
		return "packets were dropped while recording, or recording ended within the frame: record with a larger buffer (tcpdump -B 65536)"
	case decode.Limit:
		return "a limit of dubbo-wire was reached; the frame may be intact"
	case decode.Unsupported:
		switch {
		case m.Format == nil && m.Serialization == "" && m.SerializationID < 0:
			return "the header with the content type was sent before the capture began, or in a gap: begin the capture, then restart a client"
		case m.Format == nil && m.SerializationID < 0:
			return "the body is measured, but not decoded"
		case m.Format == nil:
			return fmt.Sprintf("id %d belongs to no known serialization; the body is measured, but not decoded", m.SerializationID)
		case m.Format.Depth < decode.DepthFull && m.Tree != nil && slices.ContainsFunc(m.Tree.Nodes, isValues):
			if strings.HasPrefix(err.Class, "#") {
				return "the application registered a class with the number " + err.Class[1:] + ": list its registered classes with --register, or pass its class files with --classpath and name its SerializationOptimizer with --optimizer"
			}
			switch {
			case m.Format.Classes > 0 && decode.IsJDKClass(err.Class):
				return "class " + err.Class + " is of the JDK, not of the application: pass the folder of a JDK with --jdk"
			case err.Found == decode.TwoOrders:
				return "releases of Avro write fields in different orders; earlier bodies of the connection did not tell which one this is: pass the jar of Avro, too, with --classpath"
			case strings.HasPrefix(err.Expected, decode.OneClass):
				return "the value may be of several classes that are declared so, and its class is not written; no flag helps"
			case err.Found == decode.EndsByCode:
				return "the class has code for what it writes, and dubbo-wire cannot tell from it where that ends; no flag helps"
			case *err == *decode.NotDecoded(err.At) && slices.ContainsFunc(m.Tree.Nodes, func(n decode.Node) bool { return isMissing(n) && int(n.Off) == err.At }):
				return "an array is longer than what is written of it: " + m.Serialization + " writes no nulls, so which elements are null is not known; no flag helps"
			}
			text := m.Serialization + " does not write the layout of classes; it is in the class files of the application"
			if m.Format.Classes > 0 {
				text += ": pass them with --classpath"
			}
			return text
		}
		return ""
	}
	if err.At > len(f.content) {
		return ""
	}
	rest := f.content[err.At:]
	switch {
	case m.Resync:
		return "this frame was found by resynchronizing after lost bytes, and may not be a frame"
	case len(rest) >= 16 && len(bytes.Trim(rest, "\x00")) == 0:
		return "only zeros follow: the end of the body was never written, or the file has a hole"
	case len(err.Found) > 1 && err.Found[0] == 'f' && err.Found[1] <= '4' && strings.Contains(err.Expected, "(hessian-lite)"):
		return "a character beyond U+FFFF, such as an emoji, written in 4 bytes; Hessian writes two characters of 3 bytes"
	case len(rest) >= 4 && bytes.HasPrefix(rest, []byte{0x1f, 0x8b, 8}), bytes.HasPrefix(rest, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "compressed data"
	}
	if find := m.Protocol.FindHeader; find == nil {
		return ""
	} else if at := find(rest); at >= 0 {
		return fmt.Sprintf("another frame begins at %04x: two threads wrote into one connection, or bytes were lost before it", f.contentAt()+err.At+at)
	}
	return ""
}

// isValues reports whether a node is the arguments or the result of a call.
func isValues(n decode.Node) bool {
	return n.Label == decode.ByField && n.Parent < 0 && (n.Name == "args" || n.Name == "result" || n.Name == "exception")
}

// isMissing reports whether a node stands for elements of an array that are not written: it has no bytes.
func isMissing(n decode.Node) bool {
	return n.IsUnread() && n.Kind == decode.Opaque && n.Len == 0 && n.Label == decode.ByIndex
}

// text returns the sentence that says what was wrong.
func (d *damage) text() string {
	s := fmt.Sprintf("%s at %04x", d.cause, d.at)
	if d.expected != "" {
		s += ": expected " + d.expected
	}
	if d.found != "" {
		s += ", found " + d.found
	}
	return s + "."
}
