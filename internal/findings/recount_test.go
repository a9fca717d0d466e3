package findings_test

import (
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// The findings once more, from frames: they are paired, added up and judged here, with nothing of what is tested.

// message is one frame.
type message struct {
	number, id      int64
	conn            int
	side            int
	ends            [2]string
	request         bool
	twoWay          bool
	complete        bool
	status          byte
	first, last     int64
	body, frame     int64
	serialization   string
	header          string
	service, method string
	version         string
	exception       bool
	classes         map[string]int64
	attachments     [][2]string // key, value
	attachmentBytes map[string]int64
	text, class     string
	args            string // their bytes with a mark, "" if they were not read to the end
	whole           string // the body, "" if it is not whole
	taken           bool
	protocol        string
	// header and its fields, as they are and without compression; the body without compression, -1 if it has none; the wait for flow control
	headerLen, fields, plainFields, plainBody, stalled int64
}

// exchange is a request and its response; one may be nil.
type exchange struct{ request, response *message }

type frames struct{ list []*message }

func (s *frames) Call(*call.Call, bool) {}

func (s *frames) Frame(r *pipeline.Row) {
	if r.Msg.Kind > rpc.Response {
		return
	}
	m := r.Msg
	one := &message{
		number: r.Number, id: int64(m.Exchange), conn: r.Conn.Number, side: r.Side, ends: r.Conn.Ends, request: m.Request, twoWay: m.TwoWay,
		complete: m.Complete, status: byte(m.Status), first: m.FirstTime, last: m.LastByte, body: int64(m.BodyLen),
		frame: int64(m.FrameLen()), protocol: m.Protocol.Name, headerLen: int64(m.HeaderLen), fields: int64(m.FieldsLen),
		plainFields: int64(m.FieldsPlainLen), plainBody: -1, stalled: m.Stalled, serialization: m.Serialization, exception: m.Exception, text: m.ErrorMessage, class: m.ExceptionClass,
		classes: map[string]int64{}, attachmentBytes: map[string]int64{}, service: "?", method: "?",
	}
	if m.Encoding != "" {
		one.plainBody = int64(m.UncompressedLen)
	}
	if m.HeaderFormat != nil {
		one.header = m.HeaderFormat.Name
	}
	if m.Operation != nil {
		one.service, one.method, one.version = m.Operation.Service, m.Operation.Method, m.Operation.ProtocolVersion
		if m.GenericMethod != "" {
			one.method = m.GenericMethod
		}
	}
	if m.IsWhole() {
		one.whole = string(m.Body)
	}
	for i := 0; i < len(m.Tree.Nodes); i = int(m.Tree.Nodes[i].End) {
		if m.Tree.Nodes[i].Name == "args" && m.Err == nil {
			args := []byte("arguments")
			for _, n := range m.Tree.Nodes[i:m.Tree.Nodes[i].End] {
				args = append(args, m.Content()[n.Off:n.Off+n.Len]...)
			}
			one.args = string(args)
		}
	}
	parts := m.Tree.Parts(nil, 0)
	for _, p := range parts {
		one.classes[p.Class.String()] += int64(p.Bytes)
		if rest, ok := strings.CutPrefix(p.Path, "attachments"); ok {
			one.attachmentBytes[rest] += int64(p.Bytes)
		}
	}
	m.Attachments(func(key string, value, _, _ int) {
		n := &m.Tree.Nodes[value]
		one.attachments = append(one.attachments, [2]string{key, fmt.Sprint(n.Kind, n.Text, string(m.Content()[n.Off:n.Off+n.Len]))})
		if n.Kind.String() == "string" {
			one.attachments[len(one.attachments)-1][1] = n.Text
		}
	})
	s.list = append(s.list, one)
}

// frameList reads all frames of a capture.
func frameList(t *testing.T, path string) ([]*message, *pipeline.Totals) {
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	s := new(frames)
	totals, err := pipeline.Run(src, pipeline.Options{Protocols: protocols.All(), Formats: formats.All(), Rows: true, Detail: rpc.Values}, s)
	require.NoError(t, err)
	return s.list, totals
}

// pair pairs frames as the contract has it.
func pair(list []*message) []exchange {
	for _, m := range list {
		m.taken = false
	}
	var all []exchange
	for i, m := range list {
		if !m.request {
			continue
		}
		e := exchange{request: m}
		if m.twoWay {
			for _, o := range list[i+1:] {
				if !o.request && !o.taken && o.conn == m.conn && o.side != m.side && o.id == m.id {
					o.taken = true
					e.response = o
					break
				}
			}
		}
		all = append(all, e)
	}
	for _, m := range list {
		if !m.request && !m.taken {
			all = append(all, exchange{response: m})
		}
	}
	return all
}

func (e exchange) failed() bool {
	return e.response != nil && (e.response.status != 20 || e.response.exception)
}

func (e exchange) name() string {
	if e.request == nil {
		return "?/?"
	}
	return e.request.service + "/" + e.request.method
}

func (m *message) host() string {
	host, _, _ := net.SplitHostPort(m.ends[m.side])
	return host
}

// expected is findings by kind and subject, each with some of its facts.
type expected map[string]map[string]any

func (x expected) add(kind, subject string, facts map[string]any) { x[kind+" "+subject] = facts }

// recount says what should be found.
func recount(list []*message, totals *pipeline.Totals, largeFrom, waitFrom int64) expected {
	x := expected{}
	all := pair(list)
	byMethod := map[string][]exchange{}
	for _, e := range all {
		byMethod[e.name()] = append(byMethod[e.name()], e)
	}
	for name, calls := range byMethod {
		recountMethod(x, name, calls, totals)
	}
	recountFailures(x, all, byMethod)
	recountLate(x, byMethod)
	recountRetries(x, byMethod)
	recountMissingDirection(x, all, totals)
	recountLabels(x, list, all)
	recountMixtures(x, all)
	recountVersions(x, all)
	recountWaits(x, all, largeFrom, waitFrom)
	recountHeaders(x, all)
	return x
}

// recountHeaders adds up headers, compressed bodies and waits for flow control by method.
func recountHeaders(x expected, all []exchange) {
	for side, direction := range []string{"request", "response"} {
		by := map[string][]*message{}
		for _, e := range all {
			m := []*message{e.request, e.response}[side]
			if m != nil && e.request != nil && e.request.service != "?" {
				name := m.protocol + " " + e.name()
				by[name] = append(by[name], m)
			}
		}
		heavy, badly, larger := map[string]int64{}, map[string]int64{}, map[string]int64{}
		for name, list := range by {
			n, header, frame, fields, plain, stalled := int64(0), int64(0), int64(0), int64(0), int64(0), 0
			for _, m := range list {
				if m.complete && m.fields > 0 {
					n, header, frame, fields, plain = n+1, header+m.headerLen, frame+m.frame, fields+m.fields, plain+m.plainFields
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
				_, name, _ := strings.Cut(name, " ")
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
	twoWay := 0
	for _, e := range all {
		if e.response != nil {
			return
		}
		if e.request.twoWay {
			twoWay++
		}
	}
	if twoWay == 0 || totals.OneSided == 0 {
		return
	}
	maps.DeleteFunc(x, func(key string, _ map[string]any) bool { return strings.HasPrefix(key, "unanswered ") })
	x.add("unanswered", "responses", map[string]any{"unanswered": twoWay, "calls": twoWay})
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
	if m.status == 20 {
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
	type from struct {
		status     byte
		text, what string
	}
	groups, texts := map[from][]exchange{}, map[from]map[string]int{}
	for _, e := range all {
		if !e.failed() || e.response.status == 100 || refused.MatchString(e.response.text) {
			continue
		}
		by := from{status: e.response.status}
		if e.response.status == 20 {
			by.text = e.response.reason(known)
			if by.text == "" { // the only class of the method, if there is one
				classes := map[string]bool{}
				for _, o := range byMethod[e.name()] {
					if o.failed() && o.response.status == 20 && o.response.class != "" {
						classes[o.response.class] = true
					}
				}
				for class := range classes {
					if len(classes) == 1 {
						by.text = class
					}
				}
			}
		} else {
			m, host := e.request, ""
			if m == nil {
				m, host = e.response, e.response.receiver()
			} else {
				host = m.host()
			}
			by.what = m.serialization + " " + host
		}
		groups[by] = append(groups[by], e)
		if texts[by] == nil {
			texts[by] = map[string]int{}
		}
		if s := e.response.reason(known); s != "" {
			texts[by][s]++
		}
	}
	joined := map[from][]exchange{}
	for by, list := range groups {
		to := by
		if by.status != 20 {
			to.what, to.text = "", ""
			for s, n := range texts[by] {
				if had := texts[by][to.text]; n > had || n == had && s < to.text {
					to.text = s
				}
			}
		}
		joined[to] = append(joined[to], list...)
	}
	for by, list := range joined {
		methods := map[string]bool{}
		calls := 0
		for _, e := range list {
			if !methods[e.name()] {
				methods[e.name()] = true
				calls += len(byMethod[e.name()])
			}
		}
		if len(list) >= 10 || 100*len(list) >= calls {
			x.add("errors", fmt.Sprint(by.status, " ", by.text), map[string]any{"errors": len(list), "calls": calls, "methods": len(methods)})
		}
	}
}

// timeout is the number of milliseconds for which the client waits, 0 if the attachments do not tell.
func (m *message) timeout() int64 {
	for _, key := range []string{"timeout", "_TO", "_to"} {
		for _, a := range m.attachments {
			if a[0] == key {
				n, _ := strconv.ParseInt(a[1], 10, 64)
				return n
			}
		}
	}
	return 0
}

func recountLate(x expected, byMethod map[string][]exchange) {
	for name, calls := range byMethod {
		late, longest, responses := 0, int64(0), 0
		clients := map[string]bool{}
		for _, e := range calls {
			if e.response != nil {
				responses++
			}
			if e.request == nil || !e.request.twoWay || e.response == nil || !e.response.complete || e.request.timeout() == 0 {
				continue
			}
			if took := e.response.last - e.request.first; took > e.request.timeout()*1e6 {
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
		p, timeout := e.response, e.request.timeout()*ms
		if p != nil && p.status != 20 {
			at, late = p.last, 25*ms
		}
		if timeout > 0 && (p == nil || p.complete && p.last > e.request.first+timeout) {
			return e.request.first + timeout, min(20*ms, timeout/2), 250 * ms, true
		}
		return at, early, late, false
	}
	for name, calls := range byMethod {
		requests, compared, retries, timeouts, moved, inTime := 0, 0, 0, 0, 0, 0
		for _, a := range calls {
			if a.request == nil || !a.request.twoWay {
				continue
			}
			requests++
			if a.request.whole == "" {
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
				if q == nil || !q.twoWay || q == a.request || q.whole == "" || q.host() != a.request.host() || q.whole != a.request.whole &&
					(q.args == "" || q.args != a.request.args) || q.first < at-early || q.first > at+late || uint64(q.id-a.request.id)-1 >= 1<<31-1 {
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
			if at, _, _, _ := givenUp(*first); at == 0 {
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

// receiver is the host that the message was sent to.
func (m *message) receiver() string {
	host, _, _ := net.SplitHostPort(m.ends[1-m.side])
	return host
}

func recountMethod(x expected, name string, calls []exchange, totals *pipeline.Totals) {
	answered, twoWay, late, unanswered := 0, 0, 0, 0
	longest := int64(-1)
	var requests, responses []*message
	for _, e := range calls {
		if e.request != nil {
			requests = append(requests, e.request)
			if e.request.twoWay {
				twoWay++
			}
		}
		if e.response != nil {
			answered++
			responses = append(responses, e.response)
			if e.request != nil && e.response.complete {
				longest = max(longest, e.response.last-e.request.first)
			}
		}
	}
	if answered == 0 {
		longest = 1e9
	}
	for _, e := range calls {
		if e.response == nil && e.request.twoWay {
			if e.request.last+longest <= totals.LastTime {
				unanswered++
			} else {
				late++
			}
		}
	}
	recountAnswers(x, name, responses)
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
	}
}

var refused = regexp.MustCompile(`Data length too large: (\d+), max payload: (\d+)`)

func recountAnswers(x expected, name string, list []*message) {
	calls, largest := 0, 0
	big := map[string]any{"responses": 0, "responseBytes": int64(0)}
	for _, m := range list {
		if match := refused.FindStringSubmatch(m.text); match != nil && m.status != 20 {
			n, _ := strconv.Atoi(match[1])
			calls++
			largest = max(largest, n)
		}
		if m.complete && m.body >= 1024 && m.status == 20 && !m.exception {
			big["responses"] = big["responses"].(int) + 1
			big["responseBytes"] = big["responseBytes"].(int64) + m.body
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
	known := slices.DeleteFunc(slices.Clone(list), func(m *message) bool {
		return len(m.attachments) == 0 && m.classes["opaque"] > 0
	})
	if len(known) < 3 {
		return
	}
	body, all := 0, int64(0)
	var same []string
	for _, a := range known[0].attachments {
		if !slices.ContainsFunc(known, func(m *message) bool { return !slices.Contains(m.attachments, a) }) {
			same = append(same, a[0])
		}
	}
	sameBytes := int64(0)
	for _, m := range known {
		body += m.body
		all += m.classes["attachments"]
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
	arguments := sum["values"] + sum["names"] + sum["overhead"] + sum["opaque"]
	heavier := what == "request" && len(known) == len(list) && all > arguments && all >= 50*n
	large := 10*sameBytes >= int64(body) && sameBytes >= 50*int64(len(known))
	if !large && !heavier {
		return
	}
	facts := map[string]any{"looked": len(known), "bodyBytes": int(body), "attachmentBytes": int(all), "methods": 1}
	kind := what
	if large {
		slices.Sort(same)
		kind += " " + strings.Join(same, ",")
		facts["sameBytes"], facts["sameKeys"] = int(sameBytes), same
	}
	if had := x["attachments "+kind]; had != nil {
		for _, sum := range []string{"looked", "bodyBytes", "attachmentBytes", "methods", "sameBytes"} {
			if n, ok := facts[sum].(int); ok {
				facts[sum] = n + had[sum].(int)
			}
		}
	}
	x.add("attachments", kind, facts)
}

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
	for _, e := range all {
		if e.request == nil || e.response == nil {
			continue
		}
		of[e.request.serialization]++
		k := [2]string{e.request.serialization, e.response.serialization}
		pairs[k]++
		if methods[k] == nil {
			methods[k] = map[string]bool{}
		}
		methods[k][e.name()] = true
	}
	for k, n := range pairs {
		if k[0] != k[1] {
			x.add("answer-serialization", k[0]+" "+k[1], map[string]any{"calls": n, "answered": of[k[0]], "methods": len(methods[k])})
		}
	}
}

func recountMixtures(x expected, all []exchange) {
	for _, by := range []struct {
		kind, one string
		of        func(*message) string
	}{
		{"method-serializations", "methods", func(m *message) string { return m.service + "/" + m.method }},
		{"client-serializations", "clients", (*message).host},
	} {
		each := map[string]map[string]int{}
		for _, e := range all {
			if e.request == nil || e.request.version == "" && e.request.service == "?" {
				continue
			}
			who := by.of(e.request)
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

func recountVersions(x expected, all []exchange) {
	calls, hosts := map[string]int{}, map[string]map[string]bool{}
	for _, e := range all {
		if e.request == nil || e.request.service == "?" {
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
		if e.response != nil && e.response.status == 100 {
			servers[e.response.ends[e.response.side]]++
		}
	}
	for server, n := range servers {
		x.add("threads-exhausted", server, map[string]any{"calls": n})
	}
}

// recountWaits holds every call against every large answer.
func recountWaits(x expected, all []exchange, largeFrom, waitFrom int64) {
	type sum struct {
		calls          int
		longest, total int64
		methods        map[string]bool
	}
	sums := map[string]*sum{}
	for _, e := range all {
		if e.request == nil || e.response == nil || !e.request.complete {
			continue
		}
		waited := map[string]int64{}
		for _, l := range all {
			p := l.response
			if p == nil || p == e.response || !p.complete || p.body < largeFrom || p.conn != e.response.conn || p.side != e.response.side {
				continue
			}
			if p.last > e.request.last && p.last <= e.response.first && p.number < e.response.number {
				waited[l.name()] += p.last - max(p.first, e.request.last)
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
			s.methods[e.name()] = true
		}
	}
	for name, s := range sums {
		x.add("waited-behind", name, map[string]any{
			"calls": s.calls, "longestMicros": float64(s.longest) / 1e3, "totalMicros": float64(s.total) / 1e3, "methods": len(s.methods),
		})
	}
}
