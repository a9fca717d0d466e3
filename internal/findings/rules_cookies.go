package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/report"
)

const (
	// A finding about cookies needs leastMessages sampled messages of the methods with cookies, leastCookieShare percent of their bytes in
	// cookies, and leastCookies bytes per message.
	leastCookieShare, leastCookies = 10, 50
	maxCookiesInNames              = 3
)

// httpSample holds the numbers of the sampled messages of plain HTTP.
type httpSample struct {
	messages, frameBytes, cookieBytes int64
	cookies                           map[string]sentField
	mostCookies                       int
	cookiesAt                         place // the message with most bytes of cookies
}

// add adds a message with what its head tells.
func (s *httpSample) add(m *call.Message, h *call.HTTPSample) {
	s.messages++
	s.frameBytes += int64(m.FrameLen())
	n := 0
	for _, c := range h.Cookies {
		n += c.Bytes
		addSent(&s.cookies, c)
	}
	s.cookieBytes += int64(n)
	if n > s.mostCookies {
		s.mostCookies, s.cookiesAt = n, placeOf(m)
	}
}

// heavyCookies finds methods whose messages carry or set cookies with many bytes.
func heavyCookies(k *Collector, e *evidence) {
	for side, what := range directionNames {
		in := &inDirection{side: side, methods: make(map[*method]int64)}
		var all httpSample
		names := make(map[string]int64)
		for _, m := range k.order {
			l := m.samples[side]
			if l == nil || l.http == nil || l.http.cookieBytes == 0 {
				continue
			}
			s := l.http
			weight := scaled(m.side(side).frameBytes, s.cookieBytes, s.frameBytes)
			in.methods[m] = weight
			in.weight += weight
			all.messages += s.messages
			all.frameBytes += s.frameBytes
			all.cookieBytes += s.cookieBytes
			if s.mostCookies > all.mostCookies {
				all.mostCookies, all.cookiesAt = s.mostCookies, s.cookiesAt
			}
			for name, c := range s.cookies {
				names[name] += c.bytes
			}
		}
		if all.messages < leastMessages || 100*all.cookieBytes < leastCookieShare*all.frameBytes || all.cookieBytes < leastCookies*all.messages {
			continue
		}
		delete(names, "") // the cookies whose names cannot be shown
		f := in.finding(all.cookiesAt)
		verb := "carry"
		if side == 1 {
			verb = "set"
		}
		f.Text = fmt.Sprintf("cookies that %ss %s are %s of %s %s bytes (%s of %s per %s, %s sampled)", what, verb, share(all.cookieBytes, all.frameBytes),
			in.whose(), what, mean(all.cookieBytes, all.messages), mean(all.frameBytes, all.messages), what, report.Count(all.messages))
		f.Facts = append(f.Facts, fact("cookieBytes", all.cookieBytes), fact("frameBytes", all.frameBytes), fact("looked", all.messages))
		if len(names) > 0 {
			list := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return cmp.Or(cmp.Compare(names[b], names[a]), cmp.Compare(a, b)) })
			var parts []string
			for _, name := range list {
				parts = append(parts, name+" "+mean(names[name], all.messages))
			}
			f.Text += ", in bytes: " + someOf(parts, maxCookiesInNames)
			f.Facts = append(f.Facts, report.Fact{Name: "cookies", Names: list[:min(len(list), 20)]})
		}
		f.Text += in.names()
		e.add(f)
	}
}
