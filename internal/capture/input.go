package capture

import (
	"fmt"
	"net/netip"
	"slices"

	"dubbo-wire/internal/term"
)

// Input describes one file, or standard input, and counts what was read from it so far. The counts are final when Next
// has returned io.EOF.
type Input struct {
	File             string     // as given, or folder/name; "-" is standard input
	Source           int        // index of the argument it came from; a folder is one argument
	Format           string     // "pcap" or "pcapng"; empty if it could not be opened
	Compression      string     // "gzip" or "zstd"; empty if none
	LinkTypes        []LinkType // of the file's interfaces, each once, in the file's order
	SnapLen          int        // largest snap length of its interfaces in bytes; 0 if it has none
	Packets          int64      // packets delivered
	Bytes            int64      // their bytes on the wire
	CapturedBytes    int64      // their bytes in the file
	TruncatedPackets int64      // packets with fewer bytes in the file than on the wire
	TruncatedTo      int        // largest number of bytes in the file of such a packet
	FirstTime        int64      // earliest packet, nanoseconds since the Unix epoch; valid if Packets > 0
	LastTime         int64      // latest packet, likewise
	// Machine is the addresses of the interfaces that a pcapng file describes before its first packet, each with the length of its
	// network's prefix; of a live capture those of the interfaces. Without any the file does not state them.
	Machine       []netip.Prefix
	Filter        string   // filter expression of the recording; empty if there was none, or if the file does not state it
	Dropped       int64    // packets that the recording machine dropped, or -1: the file does not state it
	Damage        []Damage // what could not be read, in file order
	DamageLeftOut int64    // further damage that was only counted
	Err           error    // why it could not be opened at all (an *Error), or nil
}

// Damage is a place where a capture does not follow its format.
type Damage struct {
	Packet int64  // the packet that could not be delivered, from 1
	Offset int64  // byte offset in the file; in the decompressed bytes if it was compressed
	Text   string // what is wrong there, and what to do
}

func (d Damage) String() string {
	return fmt.Sprintf("packet %s, byte offset %s: %s", term.Count(d.Packet), term.Count(d.Offset), d.Text)
}

// DamageError is Damage together with the name of its file, as an error.
type DamageError struct {
	File string
	Damage
}

func (e *DamageError) Error() string { return e.File + ": " + e.Damage.String() }

// maxDamage bounds the damage that is listed for a file; further damage is counted.
const maxDamage = 16

// maxAddresses bounds the addresses of interfaces that are kept of a file.
const maxAddresses = 1024

// addAddress adds an address of an interface, which the file describes as bytes of an address and the length of the prefix.
func (in *Input) addAddress(b []byte, bits int) {
	a, _ := netip.AddrFromSlice(b)
	p := netip.PrefixFrom(a, bits)
	if !p.IsValid() {
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if in.Packets == 0 && !a.IsUnspecified() && len(in.Machine) < maxAddresses {
		in.Machine = append(in.Machine, p)
	}
}

// maxLinkTypes bounds the link types that are listed for a file.
const maxLinkTypes = 64

// note adds damage to the input.
func (in *Input) note(packet, offset int64, format string, args ...any) {
	if len(in.Damage) >= maxDamage {
		in.DamageLeftOut++
		return
	}
	in.Damage = append(in.Damage, Damage{Packet: packet, Offset: offset, Text: fmt.Sprintf(format, args...)})
}

// addLink adds the link type and the snap length of an interface.
func (in *Input) addLink(l LinkType, snapLen uint32) {
	in.SnapLen = max(in.SnapLen, int(min(snapLen, 1<<31-1)))
	if !slices.Contains(in.LinkTypes, l) && len(in.LinkTypes) < maxLinkTypes {
		in.LinkTypes = append(in.LinkTypes, l)
	}
}

// count adds delivered packets, at least one, to the counters.
func (in *Input) count(ps []Packet) {
	if in.Packets == 0 {
		in.FirstTime, in.LastTime = ps[0].Time, ps[0].Time
	}
	first, last, bytes, captured := in.FirstTime, in.LastTime, 0, 0
	for i := range ps {
		p := &ps[i]
		first, last = min(first, p.Time), max(last, p.Time)
		bytes += p.WireLen
		captured += len(p.Data)
		if p.Truncated() {
			in.TruncatedPackets++
			in.TruncatedTo = max(in.TruncatedTo, len(p.Data))
		}
	}
	in.FirstTime, in.LastTime = first, last
	in.Packets += int64(len(ps))
	in.Bytes += int64(bytes)
	in.CapturedBytes += int64(captured)
}
