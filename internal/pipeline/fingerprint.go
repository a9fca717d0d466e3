package pipeline

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"dubbo-wire/internal/capture/assemble"
	"dubbo-wire/internal/capture/packet"
)

// MaxFingerprints is the number of connections up to which a run has fingerprints.
const MaxFingerprints = 100_000

// Fingerprint identifies a connection in the captures of both ends, and in those of several parts of its life.
type Fingerprint struct {
	// Ends is a hash of the two addresses and ports, whichever of them sent the first packet.
	Ends uint64
	// Start is a hash of 30 bits of the initial sequence number of the client, 0 if the capture does not have it: the connection was
	// joined midway.
	Start uint32
	// Machine has bit 0 if the lower one of the two ends is the capturing machine, and bit 1 if the upper one is.
	Machine uint8
}

// Fingerprints are those of the connections with messages.
type Fingerprints struct {
	// List is sorted and has no duplicates.
	List []Fingerprint
	// Above is the number of connections if there are more than MaxFingerprints. List is nil then.
	Above int64
}

// Compare orders fingerprints.
func (f Fingerprint) Compare(o Fingerprint) int {
	return cmp.Or(cmp.Compare(f.Ends, o.Ends), cmp.Compare(f.Start, o.Start), cmp.Compare(f.Machine, o.Machine))
}

// Add adds the fingerprints of other connections, or of the same ones. The lists of the others need not be sorted.
func (f *Fingerprints) Add(others ...*Fingerprints) {
	all, above := int64(len(f.List))+f.Above, f.Above > 0
	for _, o := range others {
		all += int64(len(o.List)) + o.Above
		above = above || o.Above > 0
		f.List = append(f.List, o.List...)
	}
	if !above {
		slices.SortFunc(f.List, Fingerprint.Compare)
		f.List = slices.Compact(f.List)
		all = int64(len(f.List))
	}
	if above || all > MaxFingerprints {
		f.List, f.Above = nil, all
	}
}

// add adds a connection, without sorting.
func (f *Fingerprints) add(c *connection) {
	if f.Above > 0 {
		f.Above++
		return
	}
	if p := fingerprintOf(c.tcp, c.call.Machine); p.Start != 0 || !c.tcp.Ends[0].Addr().IsLoopback() {
		f.List = append(f.List, p)
	}
	if len(f.List) > MaxFingerprints {
		f.Above, f.List = int64(len(f.List)), nil
	}
}

// fingerprintOf returns the fingerprint of a connection. Those of loopback are on every machine, so that they need a Start.
func fingerprintOf(c *assemble.Connection, machine [2]bool) Fingerprint {
	lower, upper := 0, 1
	if compareEnds(c.Ends[0], c.Ends[1]) > 0 {
		lower, upper = 1, 0
	}
	var b [2 * (16 + 2)]byte
	for i, k := range [2]int{lower, upper} {
		e := c.Ends[k]
		copy(b[i*18:], e.IP[:])
		binary.BigEndian.PutUint16(b[i*18+16:], e.Port)
	}
	sum := sha256.Sum256(b[:])
	f := Fingerprint{Ends: binary.BigEndian.Uint64(sum[:])}
	if isn, ok := c.ClientISN(); ok {
		f.Start = max(isn*0x9e3779b1>>2, 1)
	}
	if machine[lower] {
		f.Machine |= 1
	}
	if machine[upper] {
		f.Machine |= 2
	}
	return f
}

func compareEnds(a, b packet.Endpoint) int {
	return cmp.Or(bytes.Compare(a.IP[:], b.IP[:]), cmp.Compare(a.Port, b.Port))
}
