package live

import (
	"cmp"
	"strings"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/sizes"
)

// Selection limits rows and calls to those with its values; a value of "" limits nothing. The serialization is that of the
// request.
type Selection struct {
	Serialization, Service string
	Client, Server         string // as rows by client and by server name them
}

// And returns the selection of a row, within s. It returns false if rows of this grouping do not select calls.
func (s Selection) And(by Grouping, name string) (Selection, bool) {
	switch by {
	case ByService:
		s.Service = name
	case BySerialization:
		s.Serialization = name
	case ByClient:
		s.Client = name
	case ByServer:
		s.Server = name
	case ByPair:
		s.Client, s.Server, _ = strings.Cut(name, pairSeparator)
	default:
		return s, false
	}
	return s, name != ""
}

// Decides reports whether all calls of the selection have the same name in a grouping.
func (s Selection) Decides(by Grouping) bool {
	switch by {
	case ByService:
		return s.Service != ""
	case BySerialization:
		return s.Serialization != ""
	case ByClient:
		return s.Client != ""
	case ByServer:
		return s.Server != ""
	case ByPair:
		return s.Client != "" || s.Server != ""
	}
	return false
}

// String returns the selection in words: "client 10.0.3.17, service com.acme.OrderQuery".
func (s Selection) String() string { return s.text(true) }

// Names returns the selection without the words for what it selects.
func (s Selection) Names() string { return s.text(false) }

func (s Selection) text(words bool) string {
	var parts []string
	add := func(what, name string) {
		if !words {
			what = ""
		}
		if name != "" {
			parts = append(parts, what+name)
		}
	}
	if s.Client != "" && s.Server != "" {
		add("", s.Client+pairSeparator+s.Server)
	} else {
		add("client ", s.Client)
		add("server ", s.Server)
	}
	add("serialization ", s.Serialization)
	add("service ", s.Service)
	return strings.Join(parts, ", ")
}

// within reports whether the aggregates of all calls for a grouping have what the selection asks for.
func (s Selection) within(by Grouping) bool {
	if by <= BySerialization {
		return s.Client == "" && s.Server == ""
	}
	return s.Service == ""
}

// hasGroup reports whether the calls of a group are in the selection, which is within the grouping.
func (s Selection) hasGroup(by Grouping, g *sizes.Group) bool {
	is := func(key int, want string) bool { return want == "" || g.Values[key] == want }
	if by <= BySerialization {
		return is(keySerialization, s.Serialization) && is(keyService, s.Service)
	}
	return is(keySerialization, s.Serialization) && is(keyClient, s.Client) && is(keyServer, s.Server)
}

// hasCall reports whether a call is in the selection.
func (s Selection) hasCall(c *call.Call) bool {
	m := cmp.Or(c.Request, c.Response)
	return (s.Service == "" || m.Service() == s.Service) && s.hasMessage(c.Conn, c.Side, &m.Summary)
}

// hasMessage reports whether a message of a call is in the selection, apart from the service. side sent the request.
func (s Selection) hasMessage(conn *call.Conn, side int, m *rpc.Summary) bool {
	return (s.Client == "" || call.Host(conn.Ends[side]) == s.Client) && (s.Server == "" || conn.Ends[1-side] == s.Server) &&
		(s.Serialization == "" || m.QualifiedSerialization() == s.Serialization)
}
