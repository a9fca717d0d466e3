package dubbo

// MayBegin reports whether b, bytes of a stream, may begin a frame that is found by searching, as far as its header and the
// first bytes of its body tell; n is how many bytes that are. A connection with such bytes is taken for one of Dubbo's,
// though no frame in it is believed ([Framer.Met]).
func MayBegin(b []byte) (n int, may bool) {
	if len(b) < HeaderLen || !isMagic(b) {
		return 0, false
	}
	h := parseHeader(b)
	if !h.legal(8 << 20) {
		return 0, false
	}
	n = HeaderLen + min(startLen, h.BodyLen)
	if len(b) < n {
		return 0, false
	}
	start := b[HeaderLen:n]
	switch {
	case h.Event():
		return n, true
	case len(start) == 0:
		return 0, false
	case !h.unknown() && h.startsLike(start), h.Request() && startsOther(start):
		return n, true
	}
	return 0, false
}
