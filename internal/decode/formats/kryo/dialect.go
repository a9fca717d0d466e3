package kryo

import (
	"sync"

	"dubbo-wire/internal/decode"
)

// The dialects are told apart by how texts are written: Kryo 4 has the ASCII form for texts of up to 63 characters, Kryo
// 5 up to 32 and counts the longer ones. A request starts with five texts, and the name of a service or a method's
// parameters mostly has a length between. Where the texts do not decide the attachments do: a map at the end of the body,
// which the two write differently.

// Tell4 says whether Kryo 4 wrote a body of "kryo" or "kryo2", by its first texts.
func Tell4(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tell(b, k), kryo4) }

// Tell5 is Tell4 for Kryo 5.
func Tell5(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tell(b, k), kryo5) }

func tell(b []byte, k decode.BodyKind) *dialect {
	texts := 1
	switch k {
	case decode.BodyRequest:
		texts = 5
	case decode.BodyResult:
		if len(b) < 3 || b[0] != 1 && b[0] != 4 || b[1] != firstKey[0] || b[2] != refNew {
			return nil // no text with its class
		}
		b = b[3:]
	case decode.BodyEvent:
		return nil
	}
	for ; texts > 0; texts-- {
		n, d := textForm(b)
		if d != nil || n == 0 {
			return d
		}
		b = b[n:]
	}
	return nil
}

// textForm returns the length of the text that b starts with, 0 if it is not known, and the only dialect that writes such
// a text so, nil if both do.
func textForm(b []byte) (n int, d *dialect) {
	if len(b) == 0 {
		return 0, nil
	}
	if b[0]&moreASCII == 0 {
		for i := 0; i < len(b) && i < kryo4.maxASCII; i++ {
			if b[i] >= 0x80 {
				if i >= kryo5.maxASCII {
					return i + 1, kryo4
				}
				return i + 1, nil
			}
		}
		return 0, nil
	}
	i, units := 1, int(b[0]&0x3f)-1
	if b[0]&moreUnits != 0 {
		if len(b) < 2 || b[1] >= 0x80 {
			return 0, nil // 8191 characters
		}
		i, units = 2, units+int(b[1])<<6
	}
	ascii := units > kryo5.maxASCII && units <= kryo4.maxASCII
	for ; units > 0 && i < len(b); units-- {
		switch {
		case b[i] < 0x80:
			i++
			continue
		case b[i]>>5 == 0x6:
			i += 2
		case b[i]>>4 == 0xe:
			i += 3
		default:
			return 0, nil
		}
		ascii = false
	}
	switch {
	case units > 0 || i > len(b):
		return 0, nil
	case ascii:
		return i, kryo5
	}
	return i, nil
}

// TellWhole4 says whether Kryo 4 wrote a body of "kryo2", by the whole body.
var TellWhole4 = tellsWhole(kryo4, true)

// TellWhole5 is TellWhole4 for Kryo 5.
var TellWhole5 = tellsWhole(kryo5, true)

func tellsWhole(own *dialect, untagged bool) func([]byte, decode.BodyKind) decode.Verdict {
	return func(b []byte, k decode.BodyKind) decode.Verdict { return decode.Judge(tellWhole(b, k, untagged), own) }
}

// probe is readers of both dialects that try how bodies end; probes are those of tagged and of untagged values, which are kept for their memory.
type probe struct{ r4, r5 Reader }

var probes [2]sync.Pool

// tellWhole returns the only dialect in which the body ends as it must, nil if none or both fit.
func tellWhole(b []byte, k decode.BodyKind, untagged bool) *dialect {
	if d := tell(b, k); d != nil {
		return d
	}
	pool := &probes[0]
	if untagged {
		pool = &probes[1]
	}
	p, _ := pool.Get().(*probe)
	if p == nil {
		p = &probe{Reader{d: kryo4, untagged: untagged}, Reader{d: kryo5, untagged: untagged}}
	}
	defer pool.Put(p)
	ends4, foreign4 := p.r4.ends(b, k)
	ends5, foreign5 := p.r5.ends(b, k)
	switch {
	case ends4 && foreign5:
		return kryo4
	case ends5 && foreign4:
		return kryo5
	}
	return nil
}

// ends reports whether a body of this dialect would end with its attachments or, without attachments, with a value that
// can be walked; and whether it cannot be of this dialect.
func (r *Reader) ends(b []byte, k decode.BodyKind) (ends, foreign bool) {
	r.Reset(b, decode.Malformed, nil)
	switch k {
	case decode.BodyRequest:
		for range 5 {
			r.SkipText()
		}
	case decode.BodyResult:
		switch kind := r.ResultKind(); {
		case kind == 1 && !r.untagged:
			r.Value(decode.ByField, "result", 0, "")
			ends = r.OK() && r.Off == len(b)
			return ends, !ends && (r.OK() || r.Err().Cause == decode.Malformed)
		case kind < 3:
			return false, false
		}
	default:
		return false, false
	}
	if !r.OK() || r.Off == len(b) {
		return false, false
	}
	_, ends = r.find(r.Off)
	return ends, !ends
}
