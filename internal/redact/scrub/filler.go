package scrub

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
