package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
	"dubbo-wire/internal/term"
)

// jsonHandshake is the connections of another protocol with equal handshakes, or the rest of them.
type jsonHandshake struct {
	SNI         string   `json:"sni,omitempty"`
	ALPN        string   `json:"alpn,omitempty"`
	ALPNOffered []string `json:"alpnOffered,omitempty"`
	Rest        bool     `json:"rest,omitempty"`
	Connections int64    `json:"connections"`
	Bytes       int64    `json:"bytes"`
}

// jsonHandshakes returns the handshakes of a protocol, sorted, and the rest.
func jsonHandshakes(o *pipeline.Other) []jsonHandshake {
	var list []jsonHandshake
	for _, h := range sortedHandshakes(o, func(rpc.Handshake, rpc.Handshake) int { return 0 }) {
		k := o.Handshakes[h]
		one := jsonHandshake{SNI: h.ServerName, ALPN: h.ALPN, Connections: k.Connections, Bytes: k.Bytes}
		if h.Offered != "" {
			one.ALPNOffered = strings.Split(h.Offered, ",")
		}
		list = append(list, one)
	}
	if k := o.MoreHandshakes; k.Connections > 0 {
		list = append(list, jsonHandshake{Rest: true, Connections: k.Connections, Bytes: k.Bytes})
	}
	return list
}

// sortedHandshakes returns the handshakes in the order of compare, equal ones by name.
func sortedHandshakes(o *pipeline.Other, compare func(a, b rpc.Handshake) int) []rpc.Handshake {
	return slices.SortedFunc(maps.Keys(o.Handshakes), func(a, b rpc.Handshake) int {
		return cmp.Or(compare(a, b), cmp.Compare(a.ServerName, b.ServerName), cmp.Compare(a.ALPN, b.ALPN), cmp.Compare(a.Offered, b.Offered))
	})
}

// restoreHandshakes sets the handshakes of a protocol from those of a saved report.
func restoreHandshakes(o *pipeline.Other, list []jsonHandshake) error {
	for i := range list {
		h := &list[i]
		k := pipeline.Handshakes{Connections: h.Connections, Bytes: h.Bytes}
		if k.Connections < 0 || k.Connections > maxSavedNumber || k.Bytes < 0 || k.Bytes > maxSavedNumber {
			return fmt.Errorf("has impossible numbers of handshakes with %.40q", h.SNI)
		}
		add := pipeline.Other{MoreHandshakes: k}
		if !h.Rest {
			key := rpc.Handshake{ServerName: h.SNI, ALPN: h.ALPN, Offered: strings.Join(h.ALPNOffered, ",")}
			add = pipeline.Other{Handshakes: map[rpc.Handshake]*pipeline.Handshakes{key: &k}}
		}
		mergeHandshakes(o, &add)
	}
	return nil
}

// mergeHandshakes adds the handshakes of another report.
func mergeHandshakes(o, more *pipeline.Other) {
	o.MoreHandshakes.Connections += more.MoreHandshakes.Connections
	o.MoreHandshakes.Bytes += more.MoreHandshakes.Bytes
	for h, n := range more.Handshakes {
		if o.Handshakes == nil {
			o.Handshakes = make(map[rpc.Handshake]*pipeline.Handshakes)
		}
		k := o.Handshakes[h]
		if k == nil {
			k = new(pipeline.Handshakes)
			o.Handshakes[h] = k
		}
		k.Connections += n.Connections
		k.Bytes += n.Bytes
	}
}

// shownHandshakes is the number of handshakes in a text.
const shownHandshakes = 5

// handshakes describes the handshakes of a protocol, those with most bytes first.
func handshakes(name string, o *pipeline.Other, s *Style) string {
	list := sortedHandshakes(o, func(a, b rpc.Handshake) int { return cmp.Compare(o.Handshakes[b].Bytes, o.Handshakes[a].Bytes) })
	var parts []string
	for _, h := range list[:min(len(list), shownHandshakes)] {
		k := o.Handshakes[h]
		what := cmp.Or(h.ServerName, "no server name")
		switch {
		case h.ALPN != "":
			what += " (" + h.ALPN + ")"
		case h.Offered != "":
			what += " (offers " + strings.ReplaceAll(h.Offered, ",", ", ") + ")"
		}
		parts = append(parts, fmt.Sprintf("%s on %s (%s)", term.Clean(what), Plural(k.Connections, "connection"), bytesText(k.Bytes, s)))
	}
	more := o.MoreHandshakes.Connections
	for _, h := range list[len(parts):] {
		more += o.Handshakes[h].Connections
	}
	if more > 0 {
		parts = append(parts, "others on "+Plural(more, "connection"))
	}
	return fmt.Sprintf("Handshakes of %s: %s.", term.Clean(name), strings.Join(parts, ", "))
}
