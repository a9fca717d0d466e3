package main

import (
	"io"
	"net/netip"
	"os"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	recorder "dubbo-wire/internal/capture/record"
)

// cmdRecorded copies the packets FIRST to LAST of a capture to a pcapng file of an interface with some addresses.
func cmdRecorded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: recorded FILE OUT FIRST LAST ADDRESS/PREFIX...")
	}
	first, err := strconv.ParseInt(args[2], 10, 64)
	ts.Check(err)
	last, err := strconv.ParseInt(args[3], 10, 64)
	ts.Check(err)
	o := recorder.Options{File: ts.MkAbs(args[1]), Stdout: io.Discard}
	for _, arg := range args[4:] {
		p, err := netip.ParsePrefix(arg)
		ts.Check(err)
		o.Machine = append(o.Machine, p)
	}
	src, err := capture.Open([]string{ts.MkAbs(args[0])}, capture.Options{Stdin: os.Stdin})
	ts.Check(err)
	defer src.Close()
	r, err := recorder.Open(o)
	ts.Check(err)
	var p capture.Packet
	for src.Next(&p) == nil {
		if p.Number >= first && p.Number <= last {
			r.Packet(&p, packet.TCP, nil)
		}
	}
	ts.Check(r.Close())
}
