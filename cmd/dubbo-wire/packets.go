package main

import (
	"fmt"
	"os"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/exit"
	"dubbo-wire/internal/extract"
	"dubbo-wire/internal/measure"
	"dubbo-wire/internal/output"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/term"
)

// packetFile is the file that -w names.
type packetFile struct {
	*output.Target
	name string
}

// openPackets opens the file for packets, whose inputs must be readable twice.
func openPackets(s *streams, name string, args []string) (*packetFile, error) {
	for _, arg := range args {
		if arg == "-" {
			return nil, exit.Usagef("-w reads the inputs twice, but standard input can be read only once; save it to a file first")
		}
		if info, err := os.Stat(arg); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, exit.Usagef("-w reads the inputs twice, but %s can be read only once; save it to a file first", arg)
		}
	}
	p := &packetFile{name: name}
	if name == "-" {
		if output.IsTerminal(s.out) {
			return nil, exit.Usagef("-w - would write binary packets to the terminal; name a file, such as -w calls.pcapng")
		}
		p.Target, p.name = output.NewTarget("pcapng", s.out), "standard output"
		return p, nil
	}
	var err error
	p.Target, err = s.places.File("-w", "pcapng", name)
	return p, err
}

// write writes the packets of a selection, which are read again from src.
func (p *packetFile) write(s *streams, src *measure.Files, sel *extract.Selection) error {
	if sel.TooMany {
		return exit.Usagef("-w: more than %s are selected; select fewer calls, for example with --method, --since and --until", term.Counted(extract.MaxMessages, "frame"))
	}
	sum, err := sel.Write(src.Files, p.W, extract.Options{Apart: src.Apart(), Origin: src.Origin, Ended: src.Ended, Stop: src.Stopped})
	switch {
	case err != nil:
		return output.CannotWrite("-w", p.name, err)
	case sum.Stopped:
		return exit.Errorf(exit.Partly, "stopped before all packets were written; %s was not written", p.name)
	}
	if err := p.Close(); err != nil {
		return err
	}
	if !s.quiet {
		_, err = fmt.Fprintf(s.err, "%s: %s of %s (%s) on %s\n", p.name, term.Counted(sum.Packets, "packet"),
			term.Counted(sel.Calls, "call"), term.Counted(sel.Messages, "frame"), term.Counted(sum.Connections, "connection"))
	}
	return err
}

// bothSinks passes everything to two sinks.
type bothSinks [2]pipeline.Sink

func (b bothSinks) Frame(r *pipeline.Row) {
	b[0].Frame(r)
	b[1].Frame(r)
}

func (b bothSinks) Call(c *call.Call, selected bool) {
	b[0].Call(c, selected)
	b[1].Call(c, selected)
}
