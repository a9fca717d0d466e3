package traffic

import "math/rand/v2"

// HTTP2Talk returns what the two sides of an HTTP/2 connection send each other for that many calls or a few more, and the
// messages in the order in which they end, for tests of the protocol. style is one of [HTTP2Styles]. Segments have up to
// largest bytes. The same arguments give the same bytes.
func HTTP2Talk(seed uint64, style, calls, largest int) (segments []Segment, messages []Message, err error) {
	p, err := makePool()
	if err != nil {
		return nil, nil, err
	}
	mix := Mix{Percent: [nClasses]int{88, 9, 3, 0}}
	g := &chooser{rng: rand.New(rand.NewPCG(seed, 3)), mix: mix, pool: p}
	c := newHTTP2Conn(g, 0, &http2Styles[style], func(m *Message) { messages = append(messages, *m) })
	for {
		ask := int(c.next)/2 <= calls
		for side := range c.sides {
			b := append([]byte(nil), c.take(side)...)
			for len(b) > 0 {
				n := min(len(b), 1+g.rng.IntN(largest))
				segments = append(segments, Segment{Side: side, Data: b[:n]})
				b = b[n:]
			}
		}
		if !ask && !c.busy() {
			return segments, messages, nil
		}
		c.step(ask, [2]int64{c.sides[0].pos(), c.sides[1].pos()}, [2]bool{})
	}
}

// HTTP2Styles returns the names of the ways in which peers write, in the order of their numbers.
func HTTP2Styles() (names []string) {
	for _, s := range http2Styles {
		names = append(names, s.name)
	}
	return names
}
