package main

import (
	"bufio"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/pcapng"
)

// forms write a copy of a capture, by the end of its name: compressed, and as pcapng.
var forms = map[string]func(from, to string) error{
	".zst": func(from, to string) error {
		return copyTo(from, to, func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })
	},
	".gz": func(from, to string) error {
		return copyTo(from, to, func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })
	},
	".pcapng": asPcapng,
}

func copyTo(from, to string, compress func(io.Writer) (io.WriteCloser, error)) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w, err := compress(out)
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, in); err != nil {
		return err
	}
	return w.Close()
}

func asPcapng(from, to string) error {
	in, err := capture.Open([]string{from}, capture.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriterSize(out, 1<<20)
	b := pcapng.AppendInterface(pcapng.AppendSection(nil, "", "", ""), pcapng.Description{Link: 1, SnapLen: 262_144, Digits: 6})
	for p := (capture.Packet{}); ; {
		if _, err := w.Write(b); err != nil {
			return err
		}
		if err := in.Next(&p); err != nil {
			return w.Flush()
		}
		b = pcapng.AppendPacket(b[:0], 0, uint64(p.Time/1000), p.Data, p.WireLen)
	}
}
