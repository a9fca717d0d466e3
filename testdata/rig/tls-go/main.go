// Command tls-go is a client and a server of TLS in Go. Each end writes down what it sees of every connection (../README.md).
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	side := flag.String("side", "", "provider or consumer")
	truth := flag.String("truth", "", "the file of the truth")
	address := flag.String("address", "", "of the server")
	flag.Parse()
	out, err := os.Create(*truth)
	if err == nil {
		log := &truthLog{side: *side, out: out}
		if *side == "provider" {
			err = serve(log, *address)
		} else {
			err = consume(log, *address)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// truthLog is the file with a JSON object a line.
type truthLog struct {
	mu   sync.Mutex
	side string
	out  io.Writer
}

// connection is the line of a connection.
type connection struct {
	Side       string   `json:"side"`
	Kind       string   `json:"kind"`
	Local      string   `json:"local"`
	Remote     string   `json:"remote"`
	ServerName string   `json:"serverName"`
	Offered    []string `json:"offered"`
	ALPN       string   `json:"alpn"`
	Version    string   `json:"version"` // "" if the handshake failed
	Resumed    bool     `json:"resumed"`
	Sent       int64    `json:"sent"`
	Received   int64    `json:"received"`
	Error      string   `json:"error,omitempty"`
}

func (l *truthLog) line(c *connection) {
	c.Side, c.Kind = l.side, "tls"
	b, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.out.Write(append(b, '\n')); err != nil {
		panic(err)
	}
}

// counter counts what goes through a socket. The first write is sent in pieces of so many bytes, 0: as it comes.
type counter struct {
	net.Conn
	sent, received atomic.Int64
	pieces         int
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.received.Add(int64(n))
	return n, err
}

func (c *counter) Write(b []byte) (n int, err error) {
	for first := true; first || len(b) > n; first = false {
		k := len(b) - n
		if c.pieces > 0 && c.sent.Load() < int64(len(b)) { // the first flight, in segments of its own
			k = min(k, c.pieces)
		}
		w, err := c.Conn.Write(b[n : n+k])
		c.sent.Add(int64(w))
		if n += w; err != nil {
			return n, err
		}
		if n < len(b) {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return n, nil
}

// finish writes the line of a connection that has ended.
func (l *truthLog) finish(c *connection, raw *counter, t *tls.Conn, err error) {
	state := t.ConnectionState()
	if state.HandshakeComplete {
		c.ALPN, c.Version, c.Resumed = state.NegotiatedProtocol, tls.VersionName(state.Version), state.DidResume
	}
	if err != nil && !errors.Is(err, io.EOF) {
		c.Error = err.Error()
	}
	c.Local, c.Remote = raw.LocalAddr().String(), raw.RemoteAddr().String()
	c.Sent, c.Received = raw.sent.Load(), raw.received.Load()
	l.line(c)
}

// certificate is one of its own.
func certificate() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rig"}, DNSNames: []string{"*.shop.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}

func serve(log *truthLog, address string) error {
	own, err := certificate()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	config := &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: []string{"h2", "http/1.1"}, ClientAuth: tls.RequestClientCert}
	retry := config.Clone()
	retry.CurvePreferences = []tls.CurveID{tls.CurveP384} // of which clients send no key: they are asked again
	fmt.Println("READY")
	for {
		raw, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			c, counted := new(connection), &counter{Conn: raw}
			each := config.Clone()
			each.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
				c.ServerName, c.Offered = h.ServerName, h.SupportedProtos
				switch {
				case h.ServerName == "retry.shop.example":
					return retry, nil
				case len(h.SupportedProtos) == 0:
					return nil, nil
				}
				return config, nil
			}
			t := tls.Server(counted, each)
			_, err := io.Copy(t, t)
			_ = t.Close()
			log.finish(c, counted, t, err)
		}()
	}
}

// talk is a connection of the client.
type talk struct {
	name       string
	serverName string
	offered    []string
	version    uint16
	bytes      int
	pieces     int
	fails      bool
	strict     bool // the certificate is checked, which nobody has signed
	shared     bool // with the sessions of others
	times      int
}

var talks = []talk{
	{name: "TLS 1.3", serverName: "orders.shop.example", offered: []string{"h2", "http/1.1"}, bytes: 20_000, times: 3},
	{name: "TLS 1.2", serverName: "users.shop.example", offered: []string{"http/1.1"}, version: tls.VersionTLS12, bytes: 3000, times: 2},
	{name: "TLS 1.2 with a choice", serverName: "users.shop.example", offered: []string{"http/1.1", "h2"}, version: tls.VersionTLS12, bytes: 3000, times: 1},
	{name: "no ALPN", serverName: "plain.shop.example", bytes: 100, times: 1},
	{name: "TLS 1.2 without ALPN", serverName: "plain.shop.example", version: tls.VersionTLS12, bytes: 100, times: 1},
	{name: "no name", serverName: "192.0.2.1", offered: []string{"h2"}, bytes: 100, times: 1}, // an address is no name
	{name: "pieces", serverName: "pieces.shop.example", offered: []string{"h2"}, bytes: 100, pieces: 100, times: 1},
	{name: "single bytes", serverName: "bytes.shop.example", offered: []string{"h2"}, version: tls.VersionTLS12, bytes: 100, pieces: 1, times: 1},
	{name: "asked again", serverName: "retry.shop.example", offered: []string{"h2"}, bytes: 100, times: 1},
	{name: "resumed", serverName: "again.shop.example", offered: []string{"h2"}, bytes: 100, shared: true, times: 2},
	{name: "TLS 1.2 resumed", serverName: "again.shop.example", offered: []string{"h2"}, version: tls.VersionTLS12, bytes: 100, shared: true, times: 2},
	{name: "many protocols", serverName: "many.shop.example", offered: []string{"a-protocol-of-our-own/1", "a-protocol-of-our-own/2", "h3", "h2", "spdy/3.1", "http/1.1", "http/1.0"}, bytes: 100, times: 1},
	{name: "no common protocol", serverName: "odd.shop.example", offered: []string{"imap"}, fails: true, times: 1},
	{name: "unknown authority", serverName: "strict.shop.example", offered: []string{"h2"}, fails: true, strict: true, times: 1},
}

func consume(log *truthLog, address string) error {
	done, failed := 0, 0
	for _, k := range talks {
		sessions := tls.NewLRUClientSessionCache(8)
		for range k.times {
			err := k.run(log, address, sessions)
			switch {
			case err != nil && !k.fails:
				failed++
				fmt.Printf("FAILED %s | %v\n", k.name, err)
			case err == nil && k.fails:
				fmt.Println("NOT FAILED", k.name)
			default:
				done++
			}
		}
	}
	fmt.Printf("DONE %d steps, %d failed\n", done, failed)
	_, err := io.Copy(io.Discard, os.Stdin) // the provider leaves first
	return err
}

func (k *talk) run(log *truthLog, address string, sessions tls.ClientSessionCache) error {
	raw, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	counted := &counter{Conn: raw, pieces: k.pieces}
	config := &tls.Config{ServerName: k.serverName, NextProtos: k.offered, MaxVersion: k.version, InsecureSkipVerify: !k.strict}
	if k.shared {
		config.ClientSessionCache = sessions
	}
	t := tls.Client(counted, config)
	err = k.echo(t)
	_ = t.Close()
	c := &connection{ServerName: k.serverName, Offered: k.offered}
	if net.ParseIP(c.ServerName) != nil {
		c.ServerName = ""
	}
	log.finish(c, counted, t, err)
	return err
}

// echo sends bytes and reads them again.
func (k *talk) echo(t *tls.Conn) error {
	sent := make(chan error, 1)
	if err := t.Handshake(); err != nil {
		return err
	}
	go func() {
		_, err := t.Write(make([]byte, k.bytes))
		sent <- err
	}()
	if _, err := io.ReadFull(t, make([]byte, k.bytes)); err != nil {
		return err
	}
	return <-sent
}
