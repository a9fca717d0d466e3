package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"
)

// relay passes connections on to a provider and breaks each of them after a while: a third in order, a third with a reset,
// and a third just vanishes, as when a host loses its power: no FIN and no RST is sent.
func relay(listen, provider string) error {
	l, err := net.Listen("tcp4", listen)
	if err != nil {
		return err
	}
	fmt.Println("RELAY")
	for n := 0; ; n++ {
		near, err := l.Accept()
		if err != nil {
			return err
		}
		go relayOne(near.(*net.TCPConn), provider, n%3)
	}
}

// relayOne breaks a connection in one of three ways after half a second to six seconds. Its consumer sees a FIN in any case, and
// connects again.
func relayOne(near *net.TCPConn, provider string, how int) {
	defer near.Close()
	c, err := net.DialTimeout("tcp4", provider, 5*time.Second)
	if err != nil {
		return
	}
	far := c.(*net.TCPConn)
	over := make(chan struct{}, 2)
	for _, way := range [][2]*net.TCPConn{{far, near}, {near, far}} {
		go func() {
			_, _ = io.Copy(way[0], way[1])
			over <- struct{}{}
		}()
	}
	select {
	case <-over:
	case <-time.After(500*time.Millisecond + time.Duration(rand.Int64N(int64(5500*time.Millisecond)))):
	}
	switch how {
	case 0:
		_ = far.Close()
	case 1:
		_ = far.SetLinger(0)
		_ = far.Close()
	default:
		_ = near.Close() // no more requests; the answer to the last one comes in, or its host would be told that we are gone
		time.Sleep(200 * time.Millisecond)
		vanish(far)
	}
}
