package estimate

import (
	"cmp"
	"slices"
	"strings"

	"dubbo-wire/internal/decode"
	"dubbo-wire/internal/estimate/releases"
	"dubbo-wire/internal/rpc"
)

// marks are what a message has that tells which release of Dubbo wrote it.
type marks uint8

const (
	markAttachments marks = 1 << iota // a request with attachments
	markApplication                   // the name of the consumer, since 2.7.4
	markTimeout                       // in a request with that name, since 3.0
	markAnswer                        // the version of the protocol in a response, since 2.6.3
	markTypedList                     // an ArrayList of hessian2 with its class, until 3.2
	markUntypedList                   // one without it, since 3.3
)

// markNames has an element for each mark.
var markNames = [...]string{"attachments", "application", "timeout", "answer", "typed list", "untyped list"}

func marksOf(m *rpc.Message) (set marks) {
	if m.Tree == nil || m.Format == nil || len(m.Headers) > 0 && m.Format.Name != "hessian2" {
		return 0
	}
	m.Attachments(func(key string, _, _, _ int) {
		if m.Kind == rpc.Request {
			set |= markAttachments
		}
		switch {
		case key == "remote.application":
			set |= markApplication
		case key == "timeout":
			set |= markTimeout
		case key == "dubbo" && m.Kind == rpc.Response:
			set |= markAnswer
		}
	})
	if set&markApplication == 0 {
		set &^= markTimeout
	}
	if m.Format.Name == "hessian2" {
		for i := range m.Tree.Nodes {
			if n := &m.Tree.Nodes[i]; n.Kind == decode.List && n.Name != "args" {
				switch n.Class {
				case "java.util.ArrayList":
					set |= markTypedList
				case "":
					set |= markUntypedList
				}
			}
		}
	}
	return set
}

// line returns the line of releases that the marks tell, "" if they tell none.
func (c *Collector) line() string {
	count := func(m marks) int64 {
		for i := range c.marked {
			if m == 1<<i {
				return c.marked[i]
			}
		}
		return 0
	}
	all := count(markAttachments)
	triple := slices.ContainsFunc(c.order, func(o *observed) bool { return strings.HasPrefix(o.name, triplePrefix) })
	switch {
	case triple || 2*count(markTimeout) > all:
		if count(markUntypedList) > count(markTypedList) || triple && count(markTypedList) == 0 {
			return "3.3.x"
		}
		return "3.2.x"
	case all == 0:
		return ""
	case 2*count(markApplication) > all:
		return "2.7.x"
	case count(markAnswer) > 0:
		return "2.6.x"
	}
	return "2.5.x"
}

// Release returns the release that probably wrote the capture.
func (c *Collector) Release() string {
	var versions, names []string
	for v := range c.releases {
		versions = append(versions, v)
	}
	slices.SortFunc(versions, func(a, b string) int { return cmp.Or(cmp.Compare(c.releases[b], c.releases[a]), cmp.Compare(a, b)) })
	for _, o := range c.order {
		names = append(names, o.dialect())
	}
	return releases.Guess(append([]string{c.line()}, versions...), names)
}
