package scrub

import (
	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/rpc"
)

// fill overwrites b, whose bytes were those of original, by filler: as many bytes that say nothing of it but where its text
// and its line ends are, '~' for what is printable, 0x0e for the rest. No four of them in a row are those of the original,
// and they never make the magic of a protocol.
func fill(b, original []byte) {
	kept := 0
	for i, c := range original {
		v := byte(0x0e)
		switch {
		case (c == '\n' || c == '\r') && kept < 3:
			v = c
		case c == '\n' || c == '\r':
			v = '~'
		case c >= 0x20 && c < 0x7f:
			v = '~'
		}
		if kept++; v != c {
			kept = 0
		} else if kept > 3 {
			v, kept = otherFiller(v), 0
		}
		b[i] = v
	}
}

// fillContent calls fill for all bytes of the body of m but those that say what is called, and those between them. It returns how
// many these are.
func (s *Scrubber) fillContent(m *rpc.Message, fill func(at, end int)) (sum int) {
	at, end := 0, len(s.original)
	if m.Tree != nil {
		for i := range m.Tree.Nodes {
			n := &m.Tree.Nodes[i]
			from, to := int(n.Off), min(int(n.Off+n.Len), end)
			if from < at || from >= to || !n.NamesCall() && !(n.Kind == decode.Overhead && n.Name == "wrapper") {
				continue
			}
			if at < from {
				fill(at, from)
				sum += from - at
			}
			at = to
		}
	}
	if at < end {
		fill(at, end)
		sum += end - at
	}
	return sum
}

// otherFiller returns another byte of filler of the same kind.
func otherFiller(v byte) byte {
	if v == '~' {
		return '}'
	}
	return 0x0f
}

// setHighBits makes other filler of filler: bytes that are neither text, a small number nor a mark of a type.
func setHighBits(b []byte) {
	for i := range b {
		b[i] |= 0xf0
	}
}
