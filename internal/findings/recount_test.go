package findings_test

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dubbo-wire/internal/pipeline"
)

// The findings once more, from frames: they are paired, added up and judged here, with nothing of what is tested.

// expected is findings by kind and subject, each with some of its facts.
type expected map[string]map[string]any

func (x expected) add(kind, subject string, facts map[string]any) { x[kind+" "+subject] = facts }

// recount says what should be found.
func recount(t *testing.T, path string, s *frames, totals *pipeline.Totals, largeFrom, waitFrom int64) expected {
	x := expected{}
	all := s.pair()
	byMethod := map[string][]exchange{}
	for _, e := range all {
		byMethod[e.name] = append(byMethod[e.name], e)
	}
	for name, calls := range byMethod {
		recountMethod(x, name, calls, totals)
	}
	recountFailures(x, all, byMethod)
	recountLate(x, byMethod)
	recountRetries(x, byMethod)
	recountMissingDirection(x, all, totals)
	recountLabels(x, s.list, all)
	recountMixtures(x, all)
	recountVersions(x, all)
	recountWaits(x, all, largeFrom, waitFrom)
	recountHeaders(x, all)
	recountConns(t, x, path, s, all)
	recountCookies(x, all)
	recountRepeated(x, all)
	recountHeads(x, all)
	recountRoutes(x, all)
	for _, facts := range x {
		if names, ok := facts["names"].(map[string]bool); ok {
			delete(facts, "names")
			facts["classes"] = len(names)
		}
	}
	return x
}

// recountHeaders adds up headers, compressed bodies and waits for flow control by method.
func recountHeaders(x expected, all []exchange) {
	for side, direction := range []string{"request", "response"} {
		by := map[string][]*message{}
		for _, e := range all {
			if e.name != "?/?" {
				by[e.name] = append(by[e.name], [][]*message{e.requests, e.responses}[side]...)
			}
		}
		heavy, badly, larger := map[string]int64{}, map[string]int64{}, map[string]int64{}
		for name, list := range by {
			n, header, frame, fields, plain, stalled := int64(0), int64(0), int64(0), int64(0), int64(0), 0
			for _, m := range list {
				if m.complete && m.fieldsLen > 0 {
					n, header, frame, fields, plain = n+1, header+m.headerLen, frame+m.frame, fields+m.fieldsLen, plain+m.plainFields
				}
				if m.complete && m.plainBody >= 0 && m.plainBody < m.body {
					larger["larger"]++
				}
				if m.stalled >= 1e6 {
					stalled++
				}
			}
			if n >= 10 && 2*header >= frame && header >= 50*n {
				heavy["headerBytes"] += header
				heavy["frameBytes"] += frame
				heavy["methods"]++
			}
			if n >= 10 && 2*fields >= plain && fields >= 50*n {
				badly["fieldBytes"] += fields
				badly["plainFieldBytes"] += plain
				badly["methods"]++
			}
			if stalled > 0 {
				x.add("flow-control", name+" "+direction, map[string]any{"stalled": stalled})
			}
		}
		for kind, facts := range map[string]map[string]int64{"headers": heavy, "header-compression": badly, "compressed-larger": larger} {
			if len(facts) == 0 {
				continue
			}
			of := map[string]any{}
			for name, n := range facts {
				of[name] = n
			}
			x.add(kind, direction, of)
		}
	}
}

// recountMissingDirection replaces the findings of methods without responses if the capture has the clients' packets only.
func recountMissingDirection(x expected, all []exchange, totals *pipeline.Totals) {
	twoWay, unanswered := 0, 0
	for _, e := range all {
		if e.response != nil {
			return
		}
		if e.request.twoWay {
			twoWay++
			if e.reset == "" {
				unanswered++
			}
		}
	}
	if twoWay == 0 || totals.OneSided == 0 {
		return
	}
	maps.DeleteFunc(x, func(key string, _ map[string]any) bool { return strings.HasPrefix(key, "unanswered ") })
	x.add("unanswered", "responses", map[string]any{"unanswered": unanswered, "calls": twoWay})
}

// knownTexts are the texts of failures that docs/findings.md lists.
func knownTexts() (list []string) {
	page, err := os.ReadFile("../../docs/findings.md")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- texts -->")
	rest, _, _ = strings.Cut(rest, "<!-- end of texts -->")
	for i, s := range strings.Split(rest, "`") {
		if i%2 == 1 {
			list = append(list, s)
		}
	}
	return list
}

// reason is what is said of the text of a failure; "" if there is none.
func (m *message) reason(known []string) string {
	if !m.refused() {
		return m.class
	}
	for _, s := range known {
		if strings.Contains(m.text, s) {
			return s
		}
	}
	first := strings.Split(m.text, "\n")[0]
	if at := strings.LastIndex(first, "cause: "); at >= 0 {
		first = first[at+7:]
	} else if at := strings.LastIndex(first, "due to: "); at >= 0 {
		first = first[at+8:]
	}
	class := ""
	for _, s := range strings.Split(first, ": ") {
		word := regexp.MustCompile(`^[a-z][\w.]*\.[A-Z][\w$]*(Exception|Error)[\w$]*`).FindString(s)
		if word != "" {
			class = word
		}
		if word != s {
			break
		}
	}
	switch {
	case class != "":
		return class
	case strings.HasPrefix(m.text, "Fail to decode request"):
		return "Fail to decode request"
	case strings.HasPrefix(m.text, "Failed to send response"):
		return "Failed to send response"
	case m.text != "":
		return "?"
	}
	return ""
}

func recountFailures(x expected, all []exchange, byMethod map[string][]exchange) {
	known := knownTexts()
	type from struct{ outcome, text, what string }
	groups, texts := map[from][]exchange{}, map[from]map[string]int{}
	for _, e := range all {
		p := e.answer()
		if !e.failed() || p != nil && p.refused() && (p.dubbo && p.status == 100 || tooLarge.MatchString(p.text)) {
			continue
		}
		by := from{outcome: "exception"}
		switch {
		case p != nil && p.refused():
			by.outcome = fmt.Sprint("status ", p.status)
		case e.reset != "":
			by.outcome = e.reset
		}
		if by.outcome == "exception" {
			by.text = p.reason(known)
			if by.text == "" { // the only class of the method, if there is one
				classes := map[string]bool{}
				for _, o := range byMethod[e.name] {
					if q := o.answer(); o.failed() && o.reset == "" && !q.refused() && q.class != "" {
						classes[q.class] = true
					}
				}
				for class := range classes {
					if len(classes) == 1 {
						by.text = class
					}
				}
			}
		} else {
			m := e.request
			if m == nil {
				m = p
			}
			by.what = m.serialization + " " + e.client()
		}
		groups[by] = append(groups[by], e)
		if texts[by] == nil {
			texts[by] = map[string]int{}
		}
		if p != nil {
			if s := p.reason(known); s != "" {
				texts[by][s]++
			}
		}
	}
	joined := map[from][]exchange{}
	for by, list := range groups {
		to := by
		if by.outcome != "exception" {
			to.what, to.text = "", mostFrequent(texts[by])
		}
		joined[to] = append(joined[to], list...)
	}
	for by, list := range joined {
		methods, read := map[string]bool{}, map[string]int{}
		calls := 0
		for _, e := range list {
			if !methods[e.name] {
				methods[e.name] = true
				calls += len(byMethod[e.name])
			}
			if p := e.answer(); p != nil {
				read[p.reason(known)]++
			}
		}
		delete(read, "")
		if len(read) > 1 {
			delete(read, "?") // it is not printed
		}
		if len(list) >= 10 || 100*len(list) >= calls {
			x.add("errors", by.outcome+" "+mostFrequent(read), map[string]any{"errors": len(list), "calls": calls, "methods": len(methods)})
		}
	}
}

// mostFrequent returns the text with the largest number, of several the first one; "" if there is none.
func mostFrequent(texts map[string]int) (most string) {
	for s, n := range texts {
		if had := texts[most]; n > had || n == had && s < most {
			most = s
		}
	}
	return most
}

func recountLate(x expected, byMethod map[string][]exchange) {
	for name, calls := range byMethod {
		late, longest, responses := 0, int64(0), 0
		clients := map[string]bool{}
		for _, e := range calls {
			if e.response != nil {
				responses++
			}
			p := e.answer()
			if e.request == nil || !e.request.twoWay || p == nil || !p.complete || e.request.timeout() == 0 {
				continue
			}
			if took := p.last - e.request.first; took > e.request.timeout()*1e6 {
				late++
				longest = max(longest, took)
				clients[e.request.host()] = true
			}
		}
		if late > 0 && name != "?/?" {
			x.add("late-responses", name, map[string]any{
				"calls": late, "responses": responses, "clients": len(clients), "longestMicros": float64(longest) / 1e3,
			})
		}
	}
}

// recountRetries holds each call that was given up against all other calls of the method.
func recountRetries(x expected, byMethod map[string][]exchange) {
	const ms = int64(1e6)
	givenUp := func(e exchange) (at, early, late int64, timedOut bool) {
		p, timeout := e.answer(), e.request.timeout()*ms
		limit, before := e.request.first+timeout, min(20*ms, timeout/2)
		switch {
		case p != nil && p.refused():
			at, late = p.last, 25*ms
			timedOut = p.complete && p.last > limit
		case e.reset != "":
			at, late = e.resetAt, 25*ms
			timedOut = e.resetAt >= limit-before
		default:
			timedOut = p == nil || p.complete && p.last > limit
		}
		if timeout > 0 && timedOut {
			return limit, before, 250 * ms, true
		}
		return at, early, late, false
	}
	contents := func(e exchange) (whole, args string) {
		for _, m := range e.requests {
			if m.whole == "" || m.plainHTTP && m.fields[":path"] == "" {
				return "", ""
			}
			whole += m.whole + m.asked()
		}
		for _, m := range e.requests {
			if m.args == "" {
				return whole, ""
			}
			args += m.args + m.asked()
		}
		return whole, args
	}
	later := func(a, b exchange) bool {
		if a.request.dubbo {
			return uint64(b.request.id-a.request.id)-1 < 1<<31-1
		}
		return b.request.number > a.request.number // streams have numbers in their connection only
	}
	for name, calls := range byMethod {
		requests, compared, retries, timeouts, moved, inTime := 0, 0, 0, 0, 0, 0
		for _, a := range calls {
			if a.request == nil || !a.request.twoWay {
				continue
			}
			requests++
			whole, args := contents(a)
			if whole == "" {
				continue
			}
			compared++
			at, early, late, timedOut := givenUp(a)
			if at == 0 {
				continue
			}
			var first *exchange
			for i, b := range calls {
				q := b.request
				if q == nil || !q.twoWay || q == a.request || q.host() != a.request.host() || q.first < at-early || q.first > at+late || !later(a, b) {
					continue
				}
				otherWhole, otherArgs := contents(b)
				if otherWhole == "" || otherWhole != whole && (args == "" || args != otherArgs) {
					continue
				}
				if first == nil || q.first < first.request.first {
					first = &calls[i]
				}
			}
			if first == nil {
				continue
			}
			retries++
			if timedOut {
				timeouts++
			}
			if first.request.ends[1-first.request.side] != a.request.ends[1-a.request.side] {
				moved++
			}
			if at, _, _, _ := givenUp(*first); at == 0 && first.response != nil {
				inTime++
			}
		}
		if retries > 0 && name != "?/?" {
			x.add("retries", name, map[string]any{
				"retries": retries, "requests": requests, "compared": compared, "timedOut": timeouts, "failed": retries - timeouts, "otherServer": moved,
				"inTime": inTime,
			})
		}
	}
}

func recountMethod(x expected, name string, calls []exchange, totals *pipeline.Totals) {
	answered, twoWay, late, unanswered := 0, 0, 0, 0
	longest := int64(-1)
	var requests, responses []*message
	for _, e := range calls {
		if e.request != nil {
			requests = append(requests, e.requests...)
			if e.request.twoWay {
				twoWay++
			}
		}
		if e.response != nil {
			answered++
			responses = append(responses, e.responses...)
			if p := e.answer(); e.request != nil && p.complete {
				longest = max(longest, p.last-e.request.first)
			}
		}
	}
	if answered == 0 {
		longest = 1e9
	}
	for _, e := range calls {
		if e.response == nil && e.request.twoWay && e.reset == "" {
			last := e.requests[len(e.requests)-1]
			if !last.ended {
				continue
			}
			if last.last+longest <= totals.LastTime {
				unanswered++
			} else {
				late++
			}
		}
	}
	recountAnswers(x, name, calls)
	if unanswered > 0 {
		x.add("unanswered", name, map[string]any{"unanswered": unanswered, "calls": twoWay, "late": late})
	}
	for i, list := range [][]*message{requests, responses} {
		what := []string{"request", "response"}[i]
		list = slices.DeleteFunc(slices.Clone(list), func(m *message) bool { return !m.complete })
		if name == "?/?" || i == 1 && slices.ContainsFunc(calls, func(e exchange) bool { return e.request == nil }) {
			continue // only responses to sampled requests are sampled
		}
		recountBodies(x, name, what, list)
		recountFields(x, name, what, list)
		service := ""
		if len(requests) > 0 {
			service = requests[0].service
		}
		recountMissing(x, service, list)
	}
}

// recountMissing adds up the opaque bytes that classes would tell.
func recountMissing(x expected, service string, list []*message) {
	for _, m := range list {
		if m.missing == "" || m.classes["opaque"] == 0 {
			continue
		}
		flag, class := "--classpath", m.missing
		switch {
		case class == "?":
			class = service
		case class[0] == '#':
			flag = "--register"
		case strings.HasPrefix(class, "java"):
			flag = "--jdk"
		}
		key := "missing-classes " + flag
		if x[key] == nil {
			x.add("missing-classes", flag, map[string]any{"opaqueBytes": 0, "bodyBytes": 0, "looked": 0})
		}
		for fact, n := range map[string]int{"opaqueBytes": int(m.classes["opaque"]), "bodyBytes": int(m.body), "looked": 1} {
			x[key][fact] = x[key][fact].(int) + n
		}
		names, _ := x[key]["names"].(map[string]bool)
		if names == nil {
			names = map[string]bool{}
			x[key]["names"] = names
		}
		names[class] = true
	}
}

var tooLarge = regexp.MustCompile(`Data length too large: (\d+), max payload: (\d+)`)

func recountAnswers(x expected, name string, list []exchange) {
	calls, largest := 0, 0
	big := map[string]any{"responses": 0, "responseBytes": int64(0)}
	for _, e := range list {
		p := e.answer()
		if p == nil {
			continue
		}
		if match := tooLarge.FindStringSubmatch(p.text); match != nil && p.refused() {
			n, _ := strconv.Atoi(match[1])
			calls++
			largest = max(largest, n)
		}
		for _, m := range e.responses {
			if m.complete && m.body >= 1024 && !e.failed() && !m.encoded {
				big["responses"] = big["responses"].(int) + 1
				if q := e.request; q != nil && q.plainHTTP && q.complete && !q.unresolved {
					n, _ := big["requests"].(int)
					accepting, _ := big["acceptingRequests"].(int)
					for _, coding := range []string{"gzip", "deflate", "br", "zstd"} {
						if q.says("accept-encoding", coding) && !q.says("accept-encoding", coding+"; q=0.0") {
							accepting++
							break
						}
					}
					big["requests"], big["acceptingRequests"] = n+1, accepting
				}
				big["responseBytes"] = big["responseBytes"].(int64) + m.body
			}
		}
	}
	if calls > 0 {
		x.add("payload-refused", name, map[string]any{"calls": calls, "bodyBytes": largest})
	}
	x.add("compressible", name, big) // where the sample says so
}

func recountBodies(x expected, name, what string, list []*message) {
	if len(list) < 3 {
		return
	}
	n := int64(len(list))
	sum := map[string]int64{}
	body := int64(0)
	for _, m := range list {
		body += m.body
		for c, b := range m.classes {
			sum[c] += b
		}
	}
	if b := sum["names"]; 5*b >= body && b >= 50*n {
		x.add("names", name+" "+what, map[string]any{"nameBytes": b, "bodyBytes": body, "looked": n})
	}
	if b := sum["envelope"]; what == "request" && b > 0 && 10*b >= 6*body {
		x.add("envelope", name, map[string]any{"envelopeBytes": b, "bodyBytes": body, "looked": n})
	}
	if list[0].plainHTTP {
		return // its header fields are not attachments
	}
	known := slices.DeleteFunc(slices.Clone(list), func(m *message) bool {
		return len(m.attachments) == 0 && m.classes["opaque"] > 0
	})
	if len(known) < 3 {
		return
	}
	all, inHeader := int64(0), slices.ContainsFunc(known, func(m *message) bool { return m.inHeader > 0 })
	body = 0
	var same []string
	for _, a := range known[0].attachments {
		if !slices.ContainsFunc(known, func(m *message) bool { return !slices.Contains(m.attachments, a) }) {
			same = append(same, a[0])
		}
	}
	sameBytes := int64(0)
	for _, m := range known {
		body += m.body
		if inHeader {
			body += m.headerLen
		}
		all += m.classes["attachments"] + m.inHeader
		for _, key := range same {
			for path, b := range m.attachmentBytes {
				for _, name := range []string{"." + key, fmt.Sprintf("[%q]", key)} {
					if path == name || strings.HasPrefix(path, name+".") {
						sameBytes += b
					}
				}
			}
		}
	}
	arguments := sum["values"] + sum["names"] + sum["overhead"] + sum["opaque"] + sum["compressed"]
	heavier := what == "request" && len(known) == len(list) && all > arguments && all >= 50*n
	large := 10*sameBytes >= body && sameBytes >= 50*int64(len(known))
	if !large && !heavier {
		return
	}
	of, kind := "bodyBytes", what
	if inHeader {
		of, kind = "frameBytes", what+" frame"
	}
	facts := map[string]any{"looked": len(known), of: int(body), "attachmentBytes": int(all), "methods": 1}
	if large {
		slices.Sort(same)
		kind += " " + strings.Join(same, ",")
		facts["sameBytes"], facts["sameKeys"] = int(sameBytes), same
	}
	if had := x["attachments "+kind]; had != nil {
		for _, sum := range []string{"looked", of, "attachmentBytes", "methods", "sameBytes"} {
			if n, ok := facts[sum].(int); ok {
				facts[sum] = n + had[sum].(int)
			}
		}
	}
	x.add("attachments", kind, facts)
}

// named reports whether the message has a serialization: over HTTP one without a body has none.
func (m *message) named() bool { return m.dubbo || m.serialization != "" }

func recountLabels(x expected, list []*message, all []exchange) {
	type key struct{ what, header, body string }
	labels := map[key][]*message{}
	for _, m := range list {
		if m.header != "" {
			what := "response"
			if m.request {
				what = "request"
			}
			k := key{what, m.header, m.serialization}
			labels[k] = append(labels[k], m)
		}
	}
	for k, frames := range labels {
		senders := map[string]bool{}
		for _, m := range frames {
			if m.request {
				senders[m.host()] = true
			} else {
				senders[m.ends[m.side]] = true
			}
		}
		x.add("header-serialization", k.what+" "+k.header+" "+k.body, map[string]any{"frames": len(frames), "senders": len(senders)})
	}
	pairs := map[[2]string]int{}
	methods := map[[2]string]map[string]bool{}
	of := map[string]int{}
	answers := map[[2]string]map[string]bool{} // by method and serialization of the request
	both := func(e exchange) bool {
		return e.request != nil && e.response != nil && e.request.named() && e.response.named() && (!e.request.plainHTTP || e.hasResult())
	}
	for _, e := range all {
		if both(e) {
			k := [2]string{e.name, e.request.serialization}
			if answers[k] == nil {
				answers[k] = map[string]bool{}
			}
			answers[k][e.response.serialization] = true
		}
	}
	for _, e := range all {
		if !both(e) {
			continue
		}
		of[e.request.serialization]++
		if e.request.plainHTTP && len(answers[[2]string{e.name, e.request.serialization}]) == 1 {
			continue
		}
		k := [2]string{e.request.serialization, e.response.serialization}
		pairs[k]++
		if methods[k] == nil {
			methods[k] = map[string]bool{}
		}
		methods[k][e.name] = true
	}
	for k, n := range pairs {
		if k[0] != k[1] && k != [2]string{"hessian", "hessian2"} { // for which Dubbo's clients ask
			x.add("answer-serialization", k[0]+" "+k[1], map[string]any{"calls": n, "answered": of[k[0]], "methods": len(methods[k])})
		}
	}
}

func recountMixtures(x expected, all []exchange) {
	for _, by := range []struct {
		kind, one string
		of        func(exchange) string
	}{
		{"method-serializations", "methods", func(e exchange) string { return e.name }},
		{"client-serializations", "clients", exchange.client},
	} {
		each := map[string]map[string]int{}
		for _, e := range all {
			if e.request == nil || !e.request.target || by.one == "methods" && e.name == "?/?" || !e.request.named() {
				continue
			}
			if e.request.plainHTTP && (by.one == "clients" || e.failed() || bodyBytes(e.requests) == 0 && !e.hasResult()) {
				continue
			}
			who := by.of(e)
			if each[who] == nil {
				each[who] = map[string]int{}
			}
			each[who][e.request.serialization]++
		}
		sets := map[string]map[string]any{}
		for _, calls := range each {
			if len(calls) < 2 {
				continue
			}
			var names []string
			for s := range calls {
				names = append(names, s)
			}
			slices.Sort(names)
			set := strings.Join(names, ",")
			if sets[set] == nil {
				sets[set] = map[string]any{by.one: 0}
			}
			sets[set][by.one] = sets[set][by.one].(int) + 1
			for s, n := range calls {
				had, _ := sets[set]["calls."+s].(int)
				sets[set]["calls."+s] = had + n
			}
		}
		for set, facts := range sets {
			x.add(by.kind, set, facts)
		}
	}
}

// hasResult reports whether the call has a response with a result of some bytes.
func (e exchange) hasResult() bool { return !e.failed() && bodyBytes(e.responses) > 0 }

func bodyBytes(list []*message) (n int64) {
	for _, m := range list {
		n += m.body
	}
	return n
}

func recountVersions(x expected, all []exchange) {
	calls, hosts := map[string]int{}, map[string]map[string]bool{}
	for _, e := range all {
		if e.request == nil || e.request.service == "?" || !e.request.dubbo {
			continue
		}
		v := e.request.version
		calls[v]++
		if hosts[v] == nil {
			hosts[v] = map[string]bool{}
		}
		hosts[v][e.request.host()] = true
	}
	usual := ""
	for v := range calls {
		if usual == "" || len(hosts[v]) > len(hosts[usual]) || len(hosts[v]) == len(hosts[usual]) && calls[v] > calls[usual] {
			usual = v
		}
	}
	for v := range calls {
		if v != usual {
			x.add("dubbo-version", v, map[string]any{
				"calls": calls[v], "clients": len(hosts[v]), "usualVersion": usual, "usualCalls": calls[usual], "usualClients": len(hosts[usual]),
			})
		}
	}
	servers := map[string]int{}
	for _, e := range all {
		if e.response != nil && e.response.dubbo && e.response.status == 100 {
			servers[e.response.ends[e.response.side]]++
		}
	}
	for server, n := range servers {
		x.add("threads-exhausted", server, map[string]any{"calls": n})
	}
}

// recountWaits holds every call against every large answer, except those of HTTP/2, whose streams do not wait for each other.
func recountWaits(x expected, all []exchange, largeFrom, waitFrom int64) {
	type sum struct {
		calls          int
		longest, total int64
		methods        map[string]bool
	}
	sums := map[string]*sum{}
	for _, e := range all {
		if e.request == nil || e.response == nil || !e.request.complete || e.request.interleaved {
			continue
		}
		waited := map[string]int64{}
		for _, l := range all {
			p := l.response
			if p == nil || p == e.response || !p.complete || p.body < largeFrom || p.conn != e.response.conn || p.side != e.response.side {
				continue
			}
			if p.last > e.request.last && p.last <= e.response.first && p.number < e.response.number {
				waited[l.name] += p.last - max(p.first, e.request.last)
			}
		}
		for name, ns := range waited {
			if ns < waitFrom {
				continue
			}
			if sums[name] == nil {
				sums[name] = &sum{methods: map[string]bool{}}
			}
			s := sums[name]
			s.calls++
			s.total += ns
			s.longest = max(s.longest, ns)
			s.methods[e.name] = true
		}
	}
	for name, s := range sums {
		x.add("waited-behind", name, map[string]any{
			"calls": s.calls, "longestMicros": float64(s.longest) / 1e3, "totalMicros": float64(s.total) / 1e3, "methods": len(s.methods),
		})
	}
}
