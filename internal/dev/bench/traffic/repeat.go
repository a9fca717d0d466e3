package traffic

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"dubbo-wire/internal/capture"
)

// Offsets in a packet of IPv4 over Ethernet.
const (
	etherType  = 12
	sourceIP   = 26
	destIP     = 30
	leastBytes = 34
)

// maxCopies is how many other addresses each address has: the second and third of its bytes differ.
const maxCopies = 1 << 16

// Repeat writes recorded captures, packet by packet in turn, again and again until there are so many bytes, to a file in pcap. In each copy the addresses are others, so
// that all connections are. Every packet must be of IPv4 over Ethernet, whole and without a fragment of another one. Checksums are not
// computed again.
func Repeat(file string, size int64, captures []string) (packets int64, err error) {
	all := make([][][]byte, len(captures))
	longest := 0
	for i, name := range captures {
		if all[i], err = readPackets(name); err != nil {
			return 0, err
		}
		longest = max(longest, len(all[i]))
	}
	f, err := os.Create(file)
	if err != nil {
		return 0, err
	}
	out := bufio.NewWriterSize(f, 1<<20)
	_, _ = out.Write(appendFileHeader(nil)) // errors show at the flush
	var b []byte
	bytes := int64(0)
	for copies := 0; bytes < size && longest > 0; copies++ {
		if copies == maxCopies/len(captures) {
			return 0, errors.Join(fmt.Errorf("the captures are too small for %d bytes", size), f.Close())
		}
		for n := range longest {
			for i, recorded := range all {
				if n >= len(recorded) {
					continue
				}
				b = append(appendRecordHeader(b[:0], packets*10, len(recorded[n])), recorded[n]...)
				data := b[len(b)-len(recorded[n]):]
				for _, at := range [...]int{sourceIP, destIP} {
					binary.BigEndian.PutUint16(data[at+1:], uint16(copies*len(captures)+i))
				}
				_, _ = out.Write(b)
				packets++
				bytes += int64(len(b))
			}
		}
	}
	return packets, errors.Join(out.Flush(), f.Close())
}

// readPackets returns the packets of a capture.
func readPackets(name string) (packets [][]byte, err error) {
	src, err := capture.Open([]string{name}, capture.Options{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	var p capture.Packet
	for {
		switch err := src.Next(&p); {
		case errors.Is(err, io.EOF):
			return packets, nil
		case err != nil:
			return nil, err
		case p.Link != capture.LinkEthernet || p.Truncated() || len(p.Data) < leastBytes || binary.BigEndian.Uint16(p.Data[etherType:]) != 0x0800:
			return nil, fmt.Errorf("%s: packet %d is not a whole one of IPv4 over Ethernet", name, p.Number)
		}
		packets = append(packets, append([]byte(nil), p.Data...))
	}
}
