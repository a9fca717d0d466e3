package protocols_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"dubbo-wire/internal/decode/protocols"
	_ "dubbo-wire/internal/dev/testkit" // the flag -update
	"dubbo-wire/internal/rpc"
)

// The first bytes of a direction name one protocol, or none.
func TestSniff(t *testing.T) {
	for head, want := range map[string]string{
		"GET / HTTP/1.1\r\n":                 "http",
		"HTTP/1.1 200 OK\r\n":                "http",
		"GET ":                               "", // may be anything yet
		"GETTING started":                    "",
		"\r\n\r\nGET / HTTP/1.1\r\n":         "http",
		"\r\n\r\ninvoke hi()\r\n":            "",
		"PROPFIND /files HTTP/1.1":           "http",
		"PURGE http://acme.exampl":           "http",
		"PURGE ":                             "", // may be anything yet
		"RETR /file\r\n":                     "",
		"SELECT * FROM users":                "",
		"STATUS /x HTTP/1.1\r\n\r\n":         "http",
		"Get /x HTTP/1.1\r\n\r\n":            "",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":   "http2",
		"PRI * HTT":                          "",
		"\x16\x03\x01\x02\x00":               "tls",
		"\x16\x03":                           "",
		"\x00\x00\x00\x2e\xda\xbc":           "thrift",
		"\x80\x01\x00\x01\x00\x00\x00\x05he": "nativethrift", // TBinaryProtocol
		"\x80\x01\x00\x01\x00\x00\x00\x05":   "",             // may be anything yet
		"\x80\x01\x00\x05\x00\x00\x00\x05he": "",
		"\x00\x00\x00\x17\x80\x01\x00\x02\x00\x00\x00\x05hello":                    "nativethrift", // in a frame
		"\x00\x00\x00\x02hi\x01\x00\x00\x00\x01\x00":                               "nativethrift", // without version
		"\x00\x00\x00\x02hi\x09\x00\x00\x00\x01\x00":                               "",
		"\x00\x00\x00\x40getAccountBalances":                                       "nativethrift",
		"\x00\x00\x00\x0d\x00\x00\x00\x02hi\x02\x00\x00\x00\x01\x00":               "nativethrift",
		"\x82\x21\x01\x02hi\x00":                                                   "nativethrift", // TCompactProtocol
		"\x00\x00\x00\x07\x82\x41\x01\x02hi\x00":                                   "nativethrift",
		"\x82\x22\x01\x02hi\x00":                                                   "",
		"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03":                             "http2", // SETTINGS of a server
		"\x00\x00\x12\x04\x01\x00\x00\x00\x00\x00\x03":                             "",
		"\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x30":                             "",
		"\x00\x00\x13\x04\x00\x00\x00\x00\x00\x00\x03":                             "",
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x04\x01":                 "",
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x04\x01\x00\x00\x00\x00": "http2",
		"\x00\x00\x00\x04\x00\x00\x00\x00\x00\xda\xbb\xc2\x00\x00\x00\x00\x00\x00": "",
		"JRMI\x00\x02K":                         "rmi",
		"JRMI\x00\x02N":                         "",
		"\x4e\x00\x09127.0.0.1\x00\x00\xc2\x90": "rmi", // of a server
		"\x4e\x00\x00\x00\x0a8.0.32\x00\x08\x00\x00\x00abcdefgh": "", // MySQL
		"\xda\xbb\xc2\x00": "dubbo",
		"\xda":             "",
		"":                 "",
	} {
		name := ""
		for _, p := range protocols.All() {
			if p.Sniff != nil && p.Sniff([]byte(head)) == rpc.Mine {
				assert.Empty(t, name, "%q", head)
				name = p.Name
			}
		}
		assert.Equal(t, want, name, "%q", head)
	}
}

// A connection of lines of text is telnet's, if they are those of Dubbo.
func TestRest(t *testing.T) {
	for head, want := range map[string]bool{"invoke hi(\"x\")\r\n": true, "invoked": false, "welcome\r\ndubbo>": true} {
		got := false
		for _, p := range protocols.All() {
			got = got || p.Fallback != nil && p.Fallback([]byte(head), true)
		}
		assert.Equal(t, want, got, head)
	}
}

// The list has each protocol once.
func TestList(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range protocols.All() {
		assert.False(t, seen[p.Name], p.Name)
		seen[p.Name] = true
		assert.NotEmpty(t, p.Read, p.Name)
		assert.NotEmpty(t, p.RecognisedBy, p.Name)
	}
}
