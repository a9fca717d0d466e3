package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
)

// replay is a program that sends a capture's streams over TCP on the loopback interface: what Dubbo wrote, in the order in
// which it was captured, on connections of its own. Its arguments are the capture, and how long it waits before the first
// connection and after the last (default 0), and its exit code; it prints how many bytes of payload there were. PORT, if
// set, is where the connections go.
func replay() {
	if err := runReplay(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runReplay(args []string) error {
	wait := time.Duration(0)
	if len(args) > 1 {
		var err error
		if wait, err = time.ParseDuration(args[1]); err != nil {
			return err
		}
	}
	exit := 0
	if len(args) > 2 {
		var err error
		if exit, err = strconv.Atoi(args[2]); err != nil {
			return err
		}
	}
	src, err := capture.Open(args[:1], capture.Options{})
	if err != nil {
		return err
	}
	defer src.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		return err
	}
	defer listener.Close()
	time.Sleep(wait)
	r := &replayer{listener: listener}
	asm := assemble.New(assemble.Config{}, r)
	var decoder packet.Decoder
	var p capture.Packet
	var s packet.Segment
	for n := int64(1); ; n++ {
		if err := src.Next(&p); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if decoder.Decode(&p, &s) == packet.TCP {
			asm.Segment(&s, &assemble.Origin{Ordinal: n, Time: p.Time, Packet: n})
		}
	}
	asm.End()
	if r.err != nil {
		return r.err
	}
	fmt.Println("replayed", r.bytes)
	time.Sleep(wait)
	os.Exit(exit)
	return nil
}

type replayer struct {
	listener net.Listener
	bytes    int64
	err      error
}

// replayed is one connection: its two ends, and both its directions.
type replayed struct {
	*replayer
	ends   [2]net.Conn
	closed int
}

type replayedSide struct {
	*replayed
	side int
}

func (r *replayer) Begin(*assemble.Connection) {}

func (r *replayer) Open(c *assemble.Connection) *assemble.Flow {
	x := &replayed{replayer: r}
	if r.err == nil {
		asker, err := net.Dial("tcp", r.listener.Addr().String())
		if err == nil {
			var other net.Conn
			if other, err = r.listener.Accept(); err == nil {
				x.ends = [2]net.Conn{asker, other}
			}
		}
		r.err = err
	}
	return new(assemble.Flow).Open([2]assemble.Stream{&replayedSide{x, 0}, &replayedSide{x, 1}})
}

func (r *replayer) Close(*assemble.Connection) {}

// Data sends the bytes and waits until they have come.
func (s *replayedSide) Data(b []byte, _ *assemble.Meta) {
	if s.err != nil {
		return
	}
	got := make([]byte, len(b))
	sent := make(chan error, 1)
	go func() {
		_, err := s.ends[s.side].Write(b)
		sent <- err
	}()
	_, err := io.ReadFull(s.ends[1-s.side], got)
	if e := <-sent; err == nil {
		err = e
	}
	if err == nil && !bytes.Equal(b, got) {
		err = io.ErrUnexpectedEOF
	}
	s.err = err
	s.bytes += int64(len(b))
}

func (s *replayedSide) Gap(n, _ int64, _ *assemble.Meta)   { s.err = fmt.Errorf("a gap of %d bytes", n) }
func (s *replayedSide) Late([]byte, int64, *assemble.Meta) {}
func (s *replayedSide) Repeat(int, *assemble.Meta)         {}

func (s *replayedSide) End(bool) {
	if s.closed++; s.closed == 2 {
		for _, end := range s.ends {
			if end != nil {
				_ = end.Close()
			}
		}
	}
}
