package findings

import (
	"dubbo-wire/internal/call"
)

// labelKey is messages of one direction whose header names another serialization than their bytes are in.
type labelKey struct {
	request      bool
	header, body string
}

// labelled is how many such messages there are, and who sends them.
type labelled struct {
	labelKey
	frames, bytes    int64
	first            place
	senders          map[string]int64
	methods          map[*method]int64
	others, otherOfs int64 // frames of senders, and of methods, beyond maxSenders
}

// maxSenders is how many senders and methods are kept apart.
const maxSenders = 1 << 10

// mislabelled counts a message whose header names another serialization.
func (k *Collector) mislabelled(c *call.Call, m *call.Message, of *method) {
	key := labelKey{m.Request, m.HeaderSerialization, m.Serialization}
	l := k.labels[key]
	if l == nil { // there are as many as pairs of serializations at most
		l = &labelled{labelKey: key, first: placeOf(m), senders: make(map[string]int64), methods: make(map[*method]int64)}
		k.labels[key] = l
	}
	l.frames++
	l.bytes += int64(m.FrameLen())
	sender := c.Server()
	if key.request {
		sender = k.conn(c).client.host
	}
	if !add(l.senders, sender) {
		l.others++
	}
	if !add(l.methods, of) {
		l.otherOfs++
	}
}

// add counts one of many, unless there are too many.
func add[K comparable](m map[K]int64, key K) bool {
	if _, known := m[key]; !known && len(m) >= maxSenders {
		return false
	}
	m[key]++
	return true
}
