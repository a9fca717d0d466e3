package rmi

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/streams"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/rpc"
)

// recognised reports whether the first bytes of a direction tell RMI.
func recognised(head []byte) bool { return sniff(head) == rpc.Mine || messageLen(head) > 0 }

const uid = "\x09\x3b\xcc\xf4\x00\x00\x01\xa2\x0a\x4f\x6f\xa8\x80\x02"

func TestRecognised(t *testing.T) {
	for head, want := range map[string]bool{
		"JRMI\x00\x02\x4b": true,
		"JRMI\x00\x02\x4c\x50\xac\xed\x00\x05\x77\x22": true,
		"JRMI\x00\x02":           false,
		"JRMI\x00\x01\x4b":       false,
		"JRMI/1.0 is a magazine": false,

		"\x4e\x00\x09127.0.0.1\x00\x00\xc2\x90":             true,
		"\x4e\x00\x09127.0.0.1\x00\x00\xc2\x90\x51\xac\xed": true,
		"\x4e\x00\x09127.0.0.1\x00\x00\xc2\x90\x53":         true,
		"\x4e\x00\x09127.0.0.1\x00\x00\xc2\x90\x50":         false, // no server sends a call
		"\x4e\x00\x09127.0.0.1\x00\x01\xc2\x90":             false,
		"\x4e\x00\x09127.0.0.1\x00\x00\xc2":                 false, // not all of it
		"\x4e\x00\x09127 0.0.1\x00\x00\xc2\x90":             false,
		"\x4e\x00\x2aa-host-with-a-long-name.e":             true,
		"\x4e\x01\x2aa-host-with-a-long-name.e":             false,
		"\x4e\x00\x00\x00\x00\xc2\x90":                      false,

		"\x50\xac\xed\x00\x05\x77\x22":                    true,
		"\x52\x50\xac\xed\x00\x05\x77\x22":                true,
		"\x54" + uid + "\x52\x50\xac\xed\x00\x05\x77\x22": true,
		"\x51\xac\xed\x00\x05\x77\x0f\x01" + uid:          true,
		"\x53\x51\xac\xed\x00\x05\x77\x0f\x02":            true,
		"\x51\xac\xed\x00\x05\x77\x0f\x03":                false,
		"\x51\xac\xed\x00\x05\x77\x0f":                    false,
		"\x50\xac\xed\x00\x05\x77\x21":                    false,
		"\xac\xed\x00\x05\x77\x22":                        false, // any serialized object
		"\x52":                                            false, "\x53": false, "\x54" + uid: false, "": false,
		strings.Repeat("\x52", rpc.HeadLen): false,
	} {
		assert.Equal(t, want, recognised([]byte(head)), "%q", head)
	}
}

// Each direction of the rig's connections is recognised from its start, and from the start of each call or result.
func TestCapture(t *testing.T) {
	seen, order := streams.Of(t, testkit.Get(t, "rmi-2.7.23").Path())
	messages := 0
	for _, way := range order {
		stream := seen[way]
		require.Equal(t, rpc.Mine, sniff(stream[:min(len(stream), rpc.HeadLen)]))
		for _, start := range []string{"\x50" + callData, "\x51" + resultData} {
			for at := bytes.Index(stream, []byte(start)); at >= 0; {
				messages++
				assert.True(t, recognised(stream[at:min(len(stream), at+rpc.HeadLen)]))
				next := bytes.Index(stream[at+1:], []byte(start))
				if next < 0 {
					break
				}
				at += 1 + next
			}
		}
	}
	assert.Len(t, order, 8)
	assert.Greater(t, messages, 100)
}

// FuzzHead: whatever a direction begins with, what stays in a redacted copy is recognised as the original is.
func FuzzHead(f *testing.F) {
	for _, head := range []string{
		"JRMI\x00\x02\x4b", "\x4e\x00\x09127.0.0.1\x00\x00\xc2\x90\x51", "\x4e\x00\xff" + strings.Repeat("a", 21), "\x54" + uid + "\x52\x50\xac\xed\x00\x05\x77\x22",
		"\x51\xac\xed\x00\x05\x77\x0f\x01" + uid, "\x54\x54\x54", strings.Repeat("\x53", 24),
	} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		head = head[:min(len(head), rpc.HeadLen)]
		streams.RequireKept(t, head, keepHead, recognised)
	})
}
