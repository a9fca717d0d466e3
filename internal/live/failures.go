package live

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/findings"
)

// Failure is one kind of failed calls in the window.
type Failure struct {
	// Cause is the name of a status, the class of an exception or the reason of a reset. Text is what is known of the error's
	// text, "" if it was not read.
	Cause, Text           string
	Serialization, Client string // client: address without port
	Method                Method
	Calls                 int64
	Percent               float64 // of all failed calls of the window
	Last                  int64   // when the last one ended, in nanoseconds since the Unix epoch
}

// failureKey is what the calls of a kind share.
type failureKey struct {
	cause, text, serialization, client string
	method                             Method
}

type failureCount struct{ calls, last int64 }

// failures counts the failed calls of a second by kind.
type failures struct {
	kinds map[failureKey]failureCount
	// others counts the calls of further kinds.
	others failureCount
}

// maxFailures is the number of kinds of failed calls in a second and on the screen; further kinds share one row.
const maxFailures = 500

func (c *failureCount) add(o failureCount) {
	c.calls += o.calls
	c.last = max(c.last, o.last)
}

// maxErrorName is the maximum length of an error's name, because classes can have any.
const maxErrorName = 256

func errorName(c *call.Call) string {
	name := c.ErrorName()
	if len(name) > maxErrorName {
		name = strings.ToValidUTF8(strings.Clone(name[:maxErrorName]), "") + "…"
	}
	return name
}

// errorText returns what is known of the text of a failed call, "" if it was not read.
func errorText(c *call.Call) string {
	if m := c.Answer(); m != nil && m.Failed && m.ErrorMessage != "" {
		return findings.CauseOf(m.ErrorMessage)
	}
	return ""
}

func (f *failures) call(c *call.Call) {
	m := cmp.Or(c.Request, c.Response)
	at := m.FirstTime
	if last := c.Answer(); last != nil {
		at = last.LastByte
	}
	f.add(failureKey{errorName(c), errorText(c), m.QualifiedSerialization(), call.Host(c.Client()), Method{m.Service(), m.Method()}}, failureCount{1, at}, maxFailures)
}

// add adds calls of a kind, unless it is another one than the most kinds that are told apart.
func (f *failures) add(k failureKey, n failureCount, most int) {
	if f.kinds == nil {
		f.kinds = make(map[failureKey]failureCount)
	}
	sum, known := f.kinds[k]
	if !known && len(f.kinds) >= most {
		f.others.add(n)
		return
	}
	sum.add(n)
	f.kinds[k] = sum
}

// failures returns the kinds of failed calls in the window, the most frequent first. The kind without a method stands for all
// that are not kept apart.
func (r *ring) failures() []Failure {
	var sum failures
	for _, s := range r.seconds {
		for k, n := range s.failures.kinds {
			sum.add(k, n, math.MaxInt)
		}
		sum.others.add(s.failures.others)
	}
	var list []Failure
	all := sum.others.calls
	for k, n := range sum.kinds {
		all += n.calls
		list = append(list, Failure{Cause: k.cause, Text: k.text, Serialization: k.serialization, Client: k.client, Method: k.method, Calls: n.calls, Last: n.last})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(
			cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Method.Service, b.Method.Service), cmp.Compare(a.Method.Method, b.Method.Method),
			cmp.Compare(a.Cause, b.Cause), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Serialization, b.Serialization),
		)
	})
	for _, f := range list[min(len(list), maxFailures):] {
		sum.others.add(failureCount{f.Calls, f.Last})
	}
	list = list[:min(len(list), maxFailures)]
	if sum.others.calls > 0 {
		list = append(list, Failure{Calls: sum.others.calls, Last: sum.others.last})
	}
	for i := range list {
		list[i].Percent = percent(list[i].Calls, all)
	}
	return list
}
