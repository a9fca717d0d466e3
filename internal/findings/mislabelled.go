package findings

import "dubbo-wire/internal/call"

// labelKey is a direction, the serialization in the header and the different one of the body.
type labelKey struct {
	request      bool
	header, body string
}

// mislabelled counts the messages with a labelKey by sender and method.
type mislabelled struct {
	labelKey
	frames, bytes int64
	first         place
	senders       map[string]int64
	methods       map[*method]int64
}

// maxSenders limits the senders and the methods of a labelKey.
const maxSenders = 1 << 10

// addMislabelled counts a message whose header names another serialization than its body uses.
func (k *Collector) addMislabelled(c *call.Call, m *call.Message, of *method) {
	key := labelKey{m.Request, m.HeaderSerialization, m.Serialization}
	l := k.mislabelled[key]
	if l == nil { // pairs of serializations are few
		l = &mislabelled{labelKey: key, first: placeOf(m), senders: make(map[string]int64), methods: make(map[*method]int64)}
		k.mislabelled[key] = l
	}
	l.frames++
	l.bytes += int64(m.FrameLen())
	sender := c.Server()
	if key.request {
		sender = k.conn(c).client.host
	}
	countUpTo(l.senders, sender, maxSenders)
	countUpTo(l.methods, of, maxSenders)
}

// countUpTo counts key, unless it is new and m has limit keys already.
func countUpTo[K comparable](m map[K]int64, key K, limit int) {
	if _, known := m[key]; known || len(m) < limit {
		m[key]++
	}
}
