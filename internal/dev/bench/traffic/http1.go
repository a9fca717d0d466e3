package traffic

import "fmt"

// http1Request and http1Response append messages of HTTP/1.1 to what a side has to send, with the heads that Dubbo's REST protocol and
// Jetty write. Bodies are a JSON text each, as long as the body of the dubbo protocol.
func (g *generator) http1Request(s *side, m *method, n int) {
	g.enqueue(s, fmt.Appendf(nil, "POST /%[1]s/%[2]s HTTP/1.1\r\nrest-service-interface: %[1]s\r\nrest-service-version: 0.0.0\r\nDubbo-Attachments: remote.application=shop-web,interface=%[1]s\r\n"+
		"Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: %[3]d\r\nHost: 10.2.0.1:20880\r\nConnection: Keep-Alive\r\nUser-Agent: Apache-HttpClient/4.5.14 (Java/17.0.9)\r\n\r\n",
		m.service, m.name, n))
	g.enqueue(s, jsonText(n))
}

func (g *generator) http1Response(s *side, n int) {
	g.enqueue(s, fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nDate: Sun, 09 Sep 2001 01:46:40 GMT\r\nContent-Type: application/json\r\nContent-Length: %d\r\nServer: Jetty(9.4.11.v20180605)\r\n\r\n", n))
	g.enqueue(s, jsonText(n))
}

// jsonText is a JSON text of n bytes, at least 2.
func jsonText(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	b[0], b[n-1] = '"', '"'
	return b
}
