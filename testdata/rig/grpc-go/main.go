// Command grpc-go is a client and a server of gRPC in Go, which write down what they see of HTTP/2 and of each call, as the
// peers in Java do (../README.md).
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"net"
	"os"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

func main() {
	side := flag.String("side", "", "provider or consumer")
	truth := flag.String("truth", "", "the file of the truth")
	address := flag.String("address", "", "of the server")
	flag.Parse()
	log, err := openTruth(*side, *truth)
	if err == nil {
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

// text is random, of two letters, so that it can be packed.
func text(n, seed int) string {
	r := rand.New(rand.NewSource(int64(seed)))
	b := make([]byte, n)
	for i := range b {
		b[i] = "ab"[r.Intn(2)]
	}
	return string(b)
}

type client struct {
	conn         *grpc.ClientConn
	log          *truthLog
	address      string
	mu           sync.Mutex
	done, failed int
}

func consume(log *truthLog, address string) error {
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithMaxHeaderListSize(1<<17),
		grpc.WithInitialWindowSize(65535), grpc.WithInitialConnWindowSize(65535),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
			c, err := new(net.Dialer).DialContext(ctx, "tcp", address)
			if err != nil {
				return nil, err
			}
			return log.tap(c, false), nil
		}))
	if err != nil {
		return err
	}
	c := &client{conn: conn, log: log, address: address}
	for _, workload := range flag.Args() {
		switch workload {
		case "verbs":
			c.verbs()
		case "multiplexed":
			c.multiplexed()
		default:
			return fmt.Errorf("unknown workload %s", workload)
		}
	}
	fmt.Printf("DONE %d steps, %d failed\n", c.done, c.failed)
	_, err = io.Copy(io.Discard, os.Stdin) // the provider leaves first
	return err
}

func (c *client) step(name string, fails bool, f func() error) {
	err := f()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err != nil && !fails:
		c.failed++
		fmt.Printf("FAILED %s | %v\n", name, err)
	case err == nil && fails:
		fmt.Println("NOT FAILED", name)
	default:
		c.done++
	}
}

// call sends requests and reads answers to the end. Headers are pairs.
func (c *client) call(ctx context.Context, method string, requests []string, headers []string, options ...grpc.CallOption) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ctx = metadata.AppendToOutgoingContext(ctx, headers...)
	md, _ := metadata.FromOutgoingContext(ctx)
	line := c.log.call(c.address, method, md)
	s, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/"+serviceName+"/"+method, options...)
	if err != nil {
		return err
	}
	for _, r := range requests {
		m := str(r)
		line.request(m)
		if err := s.SendMsg(m); err != nil {
			break // its reason is that of the answer
		}
	}
	if err := s.CloseSend(); err != nil {
		return err
	}
	for {
		m := new(wrapperspb.StringValue)
		err := s.RecvMsg(m)
		if err == io.EOF {
			line.end(nil)
			return nil
		}
		if err != nil {
			line.end(err)
			return err
		}
		line.response(m)
	}
}

func (c *client) unary(request string, headers ...string) error {
	return c.call(context.Background(), "Unary", []string{request}, headers)
}

func (c *client) verbs() {
	c.step("echo", false, func() error { return c.unary("echo hello") })
	c.step("echo empty", false, func() error { return c.unary("echo ") })
	c.step("big", false, func() error { return c.unary("big 100000") })
	c.step("large request", false, func() error { return c.unary("echo " + text(100_000, 7)) })
	for _, code := range []int{1, 3, 5, 7, 14, 16} {
		c.step("fail", true, func() error { return c.unary(fmt.Sprint("fail ", code)) })
	}
	c.step("details", true, func() error { return c.unary("details") })
	c.step("unknown verb", true, func() error { return c.unary("nonsense") })
	c.step("unknown method", true, func() error { return c.call(context.Background(), "Nowhere", []string{"x"}, nil) })
	c.step("deadline", true, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 150*time.Millisecond)
		defer cancel()
		return c.call(ctx, "Unary", []string{"sleep 400"}, nil)
	})
	packed := grpc.UseCompressor(gzip.Name)
	for _, request := range []string{"echo a", "echo " + strings.Repeat("packed ", 300), "big 20000"} {
		c.step("gzip", false, func() error {
			return c.call(context.Background(), "Unary", []string{request}, []string{"x-want", "gzip"}, packed)
		})
	}
	for _, n := range []int{100, 4000, 20_000, 50_000} {
		c.step("headers", false, func() error {
			return c.unary("echo headers", "x-trace", text(n, n), "x-token-bin", "\x00\x01\x02\xff", "x-want", fmt.Sprint("headers ", n))
		})
	}
	for i := range 60 {
		c.step("distinct headers", false, func() error {
			return c.unary(fmt.Sprint("echo ", i), "x-request-id", fmt.Sprintf("%08x-%s", i*2654435761, text(20, i)), "x-trace", fmt.Sprintf("span %d of %s", i%7, text(80+i, i%7)))
		})
	}
	some := []string{"one", "two", "three", "four", strings.Repeat("five ", 50)}
	c.step("countdown", false, func() error { return c.call(context.Background(), "Countdown", []string{"20"}, nil) })
	c.step("countdown nothing", false, func() error { return c.call(context.Background(), "Countdown", []string{"0"}, nil) })
	c.step("collect", false, func() error { return c.call(context.Background(), "Collect", some, nil) })
	c.step("collect nothing", false, func() error { return c.call(context.Background(), "Collect", nil, nil) })
	c.step("chat", false, func() error { return c.call(context.Background(), "Chat", some, nil) })
	c.step("chat gzip", false, func() error { return c.call(context.Background(), "Chat", some, []string{"x-want", "gzip"}, packed) })
	c.step("cancel", false, c.cancelled)
	time.Sleep(400 * time.Millisecond)
}

func (c *client) cancelled() error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	line := c.log.call(c.address, "Chat", nil)
	s, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/"+serviceName+"/Chat")
	if err != nil {
		return err
	}
	m := str("and no more")
	line.request(m)
	if err := s.SendMsg(m); err != nil {
		return err
	}
	if err := s.RecvMsg(m); err != nil {
		return err
	}
	line.response(m)
	cancel()
	line.end(s.RecvMsg(m))
	return nil
}

func (c *client) multiplexed() {
	c.step("first", false, func() error { return c.unary("echo first") })
	var all sync.WaitGroup
	for i := range 200 {
		n := i
		if i%50 == 25 {
			n += 40_000
		}
		all.Go(func() {
			c.step("multiplexed", false, func() error { return c.unary(fmt.Sprint("echo ", i, " ", text(n, i))) })
		})
	}
	all.Wait()
}
