package estimate

import "strings"

// plainTargets returns the targets that need no Java virtual machine: what is done to the bodies of each observed serialization.
func (c *Collector) plainTargets() (list []*Target) {
	for _, o := range c.order {
		add := func(as string, size func(*sampled, *cell)) {
			list = append(list, &Target{As: o.name + as, Of: o.name, size: size})
		}
		if c.opt.Wrapped && !strings.Contains(o.name, "/") {
			list = append(list, &Target{As: triplePrefix + o.format + " framing", Of: o.name, triple: true, size: wrappedSize})
		}
		for i, z := range c.opt.Compress {
			if z.Connection {
				add(z.String(), func(s *sampled, k *cell) { streamedSize(s, k, i) })
				continue
			}
			measure := z.compressor()
			add(z.String(), func(s *sampled, k *cell) {
				plainSize(s, k, func(m *message) (int32, string) {
					switch {
					case !m.hasBody:
						return 0, compressed
					case m.packed != nil:
						return m.packed[i], ""
					}
					return int32(measure(m.body)), ""
				})
			})
		}
		for i, key := range c.opt.Without {
			add("-attachment:"+key, func(s *sampled, k *cell) {
				plainSize(s, k, func(m *message) (int32, string) {
					if i >= len(m.lighter) {
						return 0, incomplete
					}
					return m.bodyBytes - m.lighter[i].body, m.lighter[i].cause
				})
				s.header(k, func(m *message) int32 { return -m.lighter[i].header })
			})
		}
		if n := len(c.opt.Without); n > 1 {
			add("-attachment:"+strings.Join(c.opt.Without, ","), func(s *sampled, k *cell) {
				plainSize(s, k, func(m *message) (size int32, cause string) {
					size = m.bodyBytes
					if len(m.lighter) < n {
						return 0, incomplete
					}
					for _, l := range m.lighter {
						if size -= l.body; l.cause != "" {
							cause = l.cause
						}
					}
					return size, cause
				})
				s.header(k, func(m *message) (n int32) {
					for _, l := range m.lighter {
						n -= l.header
					}
					return n
				})
			})
		}
	}
	return list
}

const (
	incomplete = "incomplete in the capture"
	streaming  = "a streaming call"
	compressed = "the body is compressed already, or was not kept"
)

// plainSize measures the messages of a call.
func plainSize(s *sampled, c *cell, size func(*message) (bytes int32, cause string)) {
	if s.cause == incomplete || s.cause == streaming {
		c.state, c.cause = notDecoded, s.cause
		return
	}
	c.state = encoded
	for i, m := range [2]*message{&s.request, &s.response} {
		if m.prepared == nil || i == 1 && !s.hasResponse {
			continue
		}
		n, cause := size(m)
		if cause != "" {
			c.state, c.cause = failed, cause
			return
		}
		*[2]*int32{&c.request, &c.response}[i] = n
	}
}

// streamedSize measures the messages of a call in the streams of their connection.
func streamedSize(s *sampled, c *cell, i int) {
	if s.cause != incomplete && s.cause != streaming && (beyond(&s.request, i) || s.hasResponse && beyond(&s.response, i)) {
		return // not one of those that are measured
	}
	plainSize(s, c, func(m *message) (int32, string) {
		if m.streamed == nil {
			return 0, compressed
		}
		return m.streamed[i], ""
	})
}

// beyond reports whether a message comes after what is measured of streams.
func beyond(m *message, i int) bool { return m.hasBody && (m.streamed == nil || m.streamed[i] < 0) }

// wrappedSize measures the messages of a call in Triple's wrapper.
func wrappedSize(s *sampled, c *cell) {
	plainSize(s, c, func(m *message) (int32, string) {
		if m.wrapped < 0 {
			return 0, "the bytes of its values are not known"
		}
		return int32(m.wrapped), ""
	})
}

// header adds what a target changes in the headers to a call that was encoded.
func (s *sampled) header(c *cell, change func(*message) int32) {
	if c.state != encoded {
		return
	}
	c.requestHeader = change(&s.request)
	if s.hasResponse {
		c.responseHeader = change(&s.response)
	}
}

// frames returns the bytes of the frames of a call in a target.
func (t *Target) frames(s *sampled, c *cell) (request, response int64) {
	one := func(m *message, body, header int32) int64 {
		switch {
		case t.triple && !s.http2:
			return int64(m.headers) + int64(dataLen(int(body)))
		case t.triple, t.Of != "":
			return int64(m.frameBytes-m.bodyBytes) + int64(body+header)
		}
		return dubboHeader + int64(body)
	}
	request = one(&s.request, c.request, c.requestHeader)
	if s.hasResponse {
		response = one(&s.response, c.response, c.responseHeader)
	}
	return request, response
}
