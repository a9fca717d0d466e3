package http2_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/dev/bench/traffic"
	"dubbo-wire/internal/dev/testkit"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// protocolNames counts messages by their protocols, and holds each against the headers of its connection's requests.
type protocolNames struct {
	t       *testing.T
	named   map[string]bool // addresses with a product
	counts  map[string]int
	marked  map[uint64]bool // connections with a mark of Dubbo's
	calls   map[[2]uint64]string
	guessed int // messages whose request is not known
}

func (n *protocolNames) Call(*call.Call, bool) {}

func (n *protocolNames) Frame(r *pipeline.Row) {
	m := r.Msg
	if !m.Protocol.PlainHTTP {
		return
	}
	n.counts[m.Protocol.Name]++
	key := [2]uint64{r.Conn.Key, m.Exchange}
	if m.Kind == rpc.Request {
		n.marked[r.Conn.Key] = n.marked[r.Conn.Key] || slices.ContainsFunc(m.Headers, func(h rpc.Header) bool {
			return h.Name == "dubbo-attachments" || strings.HasPrefix(h.Name, "rest-service-") || strings.HasPrefix(h.Name, "tri-")
		})
		n.calls[key] = "http"
		if n.marked[r.Conn.Key] || n.named[r.Conn.Ends[1-r.Side]] {
			n.calls[key] = "rest"
		}
	}
	want, ok := n.calls[key]
	if !ok {
		n.guessed++
		return
	}
	assert.Equal(n.t, want, m.Protocol.Name, "%d on %s", m.Exchange, r.Conn.Ends)
}

// namesOf returns the protocols of the messages of plain HTTP that a capture has without its first packets.
func namesOf(t *testing.T, name string, skip, jobs int, products map[string]string) *protocolNames {
	src, err := capture.Open([]string{testkit.Get(t, name).Path()}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	n := &protocolNames{t: t, counts: map[string]int{}, marked: map[uint64]bool{}, calls: map[[2]uint64]string{}, named: map[string]bool{}}
	for address := range products {
		n.named[address] = true
	}
	_, err = pipeline.Run(&damaged{Source: src, gone: func(i int) bool { return i < skip }}, pipeline.Options{
		Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Values, Rows: true, Jobs: jobs, Products: products,
	}, n)
	require.NoError(t, err)
	return n
}

// The consumers of Dubbo 2.7 write Dubbo-Attachments; other clients write nothing of Dubbo's, and no server does.
func TestProtocolsOfCaptures(t *testing.T) {
	for _, test := range []struct {
		capture string
		server  string
		want    map[string]int
	}{
		{"rest-jetty-json-2.7.23", "", map[string]int{"rest": 54}},
		{"rest-tomcat-xml-gzip-2.7.23", "", map[string]int{"rest": 54}},
		{"rest-netty-json-gzip-2.7.23", "", map[string]int{"rest": 54}},
		{"rest-edge-jetty-2.7.23", "", map[string]int{"rest": 36, "http": 163}},
		{"rest-edge-tomcat-2.7.23", "", map[string]int{"rest": 36, "http": 162}},
		{"rest-edge-netty-2.7.23", "", map[string]int{"rest": 36, "http": 161}},
		{"rest-3.2.16", "", map[string]int{"http": 104}},
		{"rest-3.2.16", "127.0.0.1:20880", map[string]int{"rest": 104}},
		{"rest-3.2.16", "127.0.0.1:20881", map[string]int{"http": 104}},
		{"rest-edge-http2-3.3.6", "", map[string]int{"http": 114}},
		{"rest-edge-http2-3.3.6", "127.0.0.1:20880", map[string]int{"rest": 114}},
		{"upgrade-3.3.6", "", map[string]int{"rest": 4, "http": 102}}, // two calls have tri-service-group
		{"triple-3.3.6", "127.0.0.1:20880", map[string]int{}},         // gRPC stays what it is
		{"qos-2.7.23", "", map[string]int{"http": 14}},
	} {
		t.Run(test.capture+" "+test.server, func(t *testing.T) {
			t.Parallel()
			products := map[string]string{}
			if test.server != "" {
				products[test.server] = "Dubbo"
			}
			for _, jobs := range []int{1, 4} {
				n := namesOf(t, test.capture, 0, jobs, products)
				assert.Equal(t, test.want, n.counts)
			}
			for _, skip := range []int{3, 10, 40} { // from the middle
				n := namesOf(t, test.capture, skip, 1, products)
				for name := range n.counts {
					assert.Contains(t, []string{"http", "rest"}, name)
				}
				if test.server != "" {
					assert.Equal(t, len(test.want), len(n.counts), "%v", n.counts)
				}
			}
		})
	}
}

// What a request of HTTP/1 is: by its own headers, by those of an earlier one of its connection.
func TestRESTOfHTTP1(t *testing.T) {
	request := func(fields string) traffic.Segment {
		return traffic.Segment{Data: []byte("GET /users HTTP/1.1\r\nHost: a.example\r\n" + fields + "\r\n")}
	}
	response := func(fields string) traffic.Segment {
		return traffic.Segment{Side: 1, Data: []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n" + fields + "\r\nok")}
	}
	const mark = "DUBBO-Attachments: a=b\r\n"
	for _, test := range []struct {
		name     string
		segments []traffic.Segment
		want     string // of the messages of the client, and of the server
	}{
		{"none", []traffic.Segment{request(""), response("")}, "http http"},
		{"attachments", []traffic.Segment{request(mark), response("")}, "rest rest"},
		{"version", []traffic.Segment{request("rest-service-version: 1.0\r\n"), response("")}, "rest rest"},
		{"3.2's attachments", []traffic.Segment{request("Rest-Service-Path: com.acme.Users\r\n"), response("")}, "rest rest"},
		{"Triple's REST", []traffic.Segment{request("tri-service-timeout: 900\r\n"), response("")}, "rest rest"},
		{"other names", []traffic.Segment{request("x-tri-service: 1\r\nrest-service: 1\r\ndubbo: 2\r\n"), response("")}, "http http"},
		{"in a value", []traffic.Segment{request("x: Dubbo-Attachments: a=b\r\n"), response("")}, "http http"},
		{"in a body", []traffic.Segment{request("Content-Length: 24\r\n\r\n" + mark), response("")}, "http http"},
		{"earlier", []traffic.Segment{request(mark), response(""), request(""), response("")}, "rest rest rest rest"},
		{"later", []traffic.Segment{request(""), response(""), request(mark), response("")}, "http rest http rest"},
		{"pipelined", []traffic.Segment{request(""), request(mark), request(""), response(""), response(""), response("")}, "http rest rest http rest rest"},
		{"of a response", []traffic.Segment{request(""), response("rest-service-a: b\r\n"), request(""), response("")}, "http rest http rest"},
		{"of a response alone", []traffic.Segment{response("rest-service-a: b\r\n"), response("")}, "rest rest"},
		{"of the client alone", []traffic.Segment{request(mark), request("")}, "rest rest"},
		{"of the server alone", []traffic.Segment{response(""), response("")}, "http http"},
	} {
		found, totals := read(t, test.segments, rpc.Envelope)
		var got []string
		for _, m := range found {
			got = append(got, m.Protocol)
		}
		assert.Equal(t, test.want, strings.Join(got, " "), test.name)
		assert.Zero(t, totals.Skipped, test.name)
	}
}

// What a stream of HTTP/2 is.
func TestRESTOfHTTP2(t *testing.T) {
	const grpc, json = "application/grpc", "application/json"
	type headers []string
	message := "\x00\x00\x00\x00\x02\x0a\x00"
	for _, test := range []struct {
		name  string
		calls []headers // after :method and :path
		want  string    // of the requests
	}{
		{"plain", []headers{{"content-type", json}}, "http"},
		{"a mark before the content type", []headers{{"tri-service-version", "1", "content-type", json}}, "rest"},
		{"a mark after the content type", []headers{{"content-type", json, "tri-service-version", "1"}}, "rest"},
		{"a mark without content type", []headers{{"tri-service-version", "1"}}, "rest"},
		{"a mark of REST", []headers{{"rest-service-group", "g", "content-type", json}}, "rest"},
		{"Triple", []headers{{"tri-service-version", "1", "content-type", grpc}}, "triple"},
		{"gRPC with marks of REST", []headers{{"rest-service-group", "g", "dubbo-attachments", "a=b", "content-type", grpc}}, "grpc"},
		{"after Triple", []headers{{"tri-service-version", "1", "content-type", grpc}, {"content-type", json}, {"content-type", grpc}}, "triple rest triple"},
		{"before a mark", []headers{{"content-type", json}, {"dubbo-attachments", "a=b", "content-type", json}, {"content-type", json}}, "http rest rest"},
	} {
		client, server := newPeer(), newPeer()
		client.WriteString(http2.ClientPreface)
		_ = client.frames.WriteSettings()
		_ = server.frames.WriteSettings()
		for i, fields := range test.calls {
			fields = append(headers{":method", "POST", ":path", "/com.acme.Users/find", ":scheme", "http", ":authority", "a.example"}, fields...)
			body := `[1]`
			if slices.Contains(fields, grpc) {
				body = message
			}
			client.send(uint32(2*i+1), body, fields...)
		}
		found, totals := read(t, []traffic.Segment{{Data: bytes.Clone(client.Bytes())}, {Side: 1, Data: server.Bytes()}}, rpc.Envelope)
		var got []string
		for _, m := range found {
			got = append(got, m.Protocol)
		}
		assert.Equal(t, test.want, strings.Join(got, " "), test.name)
		assert.Zero(t, totals.Skipped, test.name)
		control := int64(0)
		for _, k := range totals.Control {
			control += k.Bytes
		}
		assert.Equal(t, totals.OtherBytes(), control, test.name)
	}
}

// A header that refers to one that the capture lacks is not a mark.
func TestRESTUnknownHeaders(t *testing.T) {
	client := newPeer()
	client.WriteString(http2.ClientPreface)
	_ = client.frames.WriteSettings()
	send := func(stream uint32) {
		client.send(stream, `[1]`, ":method", "PUT", ":path", "/users", ":scheme", "http", ":authority", "a.example", "content-type", "application/json", "rest-service-group", "g")
	}
	send(1)
	seen := client.Len()
	send(3) // refers to the entries of the first block
	send(5)
	found, _ := read(t, []traffic.Segment{{Data: client.Bytes()[:seen], Lost: true}, {Data: client.Bytes()[seen:]}}, rpc.Envelope)
	require.NotEmpty(t, found)
	for _, m := range found {
		assert.NotEqual(t, "rest", m.Protocol)
	}
	found, _ = read(t, []traffic.Segment{{Data: client.Bytes()}}, rpc.Envelope)
	assert.Len(t, found, 3)
	assert.Equal(t, "rest", found[2].Protocol)
}
