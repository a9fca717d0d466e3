package packet

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
)

// split cuts an IP packet into fragments of at most size payload bytes (a multiple of 8), as a router or sender would.
func split(ip []byte, size int, id uint32) [][]byte {
	head, next, at := 20, byte(0), 0
	if ip[0]>>4 == 4 {
		head = int(ip[0]&15) * 4
		at = head
	} else {
		head, next, at = 40, ip[6], 40
	}
	var all [][]byte
	for payload := ip[at:]; len(payload) > 0; {
		n := min(size, len(payload))
		offset, more := len(ip)-at-len(payload), n < len(payload)
		f := append([]byte{}, ip[:head]...)
		bits := uint16(offset)
		if ip[0]>>4 == 4 {
			bits >>= 3
			if more {
				bits |= 0x2000
			}
			binary.BigEndian.PutUint16(f[2:], uint16(head+n))
			binary.BigEndian.PutUint16(f[4:], uint16(id))
			binary.BigEndian.PutUint16(f[6:], bits)
		} else {
			if more {
				bits |= 1
			}
			binary.BigEndian.PutUint16(f[4:], uint16(8+n))
			f[6] = 44
			f = append(f, next, 0, byte(bits>>8), byte(bits))
			f = binary.BigEndian.AppendUint32(f, id)
		}
		all = append(all, append(f, payload[:n]...))
		payload = payload[n:]
	}
	return all
}

// books checks that each link byte that went into a decoder came out once.
type books struct{ in, out Fragments }

// feed decodes p and keeps the books; the segment is the caller's.
func (k *books) feed(d *Decoder, p *capture.Packet, s *Segment) Verdict {
	v := d.Decode(p, s)
	k.in.add(Fragments{1, int64(p.WireLen)})
	if v != Held {
		k.out.add(Fragments{1, int64(p.WireLen)})
		k.out.add(d.Earlier())
	}
	return v
}

// Waiting returns the fragments that are held.
func (d *Decoder) Waiting() (all Fragments) {
	if d.frags == nil {
		return all
	}
	for _, newest := range d.frags.open {
		for g := newest; g != nil; g = g.copy {
			all.add(g.held)
		}
	}
	return all
}

func (k *books) balanced(t testing.TB, d *Decoder) {
	lost, repeated := d.Abandoned()
	all := k.out
	all.add(lost)
	all.add(repeated)
	all.add(d.Waiting())
	require.Equal(t, k.in, all)
}

// Recorded packets that are cut into fragments, over IPv4 and IPv6, in any order, with and without repeats and overlaps, are
// the segments they were, and their link bytes are those of all fragments.
func TestFragmentsOfRealPackets(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"bid-plain.pcap", "bid-ipv6.pcap"} {
		packets := realPackets(t, name)
		for _, order := range []string{"in order", "backwards", "shuffled", "shuffled, repeated", "shuffled, overlapping"} {
			var d Decoder
			var k books
			for i, ip := range packets {
				var plain, s Segment
				require.Equal(t, TCP, new(Decoder).Decode(behind(101, "", ip), &plain))
				// Identifications are used again soon, as they are on a busy host.
				fragments := split(ip, 8*(1+random.IntN(100)+len(ip)/800), uint32(i%50))
				if len(fragments) == 1 {
					continue
				}
				unique := len(fragments)
				switch order {
				case "backwards":
					slices.Reverse(fragments)
				case "shuffled, repeated":
					fragments = append(fragments, fragments[:unique/2]...)
				case "shuffled, overlapping":
					fragments = append(fragments, split(ip, 8*(1+random.IntN(100)+len(ip)/800), uint32(i%50))...)
				}
				if order[0] == 's' {
					random.Shuffle(len(fragments), func(i, j int) { fragments[i], fragments[j] = fragments[j], fragments[i] })
				}
				whole, link := 0, 0
				for _, f := range fragments {
					p := behind(1, hdrMACs+etherOf(ip), append(f, "pad"...))
					link += p.WireLen
					v := k.feed(&d, p, &s)
					if v != TCP {
						require.Equal(t, Held, v)
						continue
					}
					whole++
					require.True(t, bytes.Equal(plain.Payload, s.Payload), "%s packet %d %s", name, i, order)
					require.EqualValues(t, d.Earlier().Bytes, s.Extra)
					headers := p.WireLen + s.Extra - s.PayloadLen - s.Padding
					require.EqualValues(t, 3*(1+d.Earlier().Packets), s.Padding)
					if order == "in order" {
						each := 14 + 20
						if ip[0]>>4 == 6 {
							each = 14 + 48
						}
						tcp := len(ip) - plain.PayloadLen - map[byte]int{4: 20, 6: 40}[ip[0]>>4]
						require.Equal(t, each*unique+tcp, headers)
						require.Equal(t, link, p.WireLen+s.Extra)
					}
					s.Padding, s.Extra, s.IPID = 0, 0, plain.IPID
					s.NoIPLength, s.Offloaded = plain.NoIPLength, plain.Offloaded
					require.Equal(t, plain, s)
				}
				require.Positive(t, whole, "%s packet %d %s", name, i, order)
				k.balanced(t, &d)
				if order != "in order" && order != "backwards" && order != "shuffled" {
					d.Flush() // what is left of repeats would be taken for the next use of the identification
				}
			}
			if order == "in order" || order == "backwards" || order == "shuffled" {
				assert.Zero(t, d.Waiting())
			}
			d.Flush()
			lost, repeated := d.Abandoned()
			assert.Zero(t, lost, order)
			assert.Equal(t, order == "shuffled, repeated" || order == "shuffled, overlapping", repeated.Packets > 0, order)
			k.balanced(t, &d)
		}
	}
}

// A mirror shows every fragment twice: two whole packets come out, whichever way they are mixed.
func TestFragmentsSeenTwice(t *testing.T) {
	ip := ip4(t, 1000)
	f := split(ip, 400, 7)
	for _, order := range [][]int{{0, 0, 1, 1, 2, 2}, {0, 1, 2, 0, 1, 2}, {0, 1, 0, 2, 1, 2}, {2, 2, 1, 1, 0, 0}, {0, 1, 0, 1, 2, 2}} {
		var d Decoder
		var s Segment
		var k books
		whole := 0
		for _, i := range order {
			if k.feed(&d, behind(101, "", f[i]), &s) == TCP {
				whole++
				assert.True(t, bytes.Equal(body(1000), s.Payload))
				assert.EqualValues(t, 2, d.Earlier().Packets)
			}
		}
		assert.Equal(t, 2, whole, order)
		assert.Zero(t, d.Waiting())
		k.balanced(t, &d)
	}
}

// One fragment twice is a repeat, not a loss, wherever it comes.
func TestRepeatedFragment(t *testing.T) {
	f := split(ip6(t, 1000), 400, 7)
	for _, order := range [][]int{{0, 0, 1, 2}, {0, 1, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 0}} {
		var d Decoder
		var s Segment
		var k books
		whole := 0
		for _, i := range order {
			if k.feed(&d, behind(101, "", f[i]), &s) == TCP {
				whole++
			}
		}
		assert.Equal(t, 1, whole)
		d.Flush()
		lost, repeated := d.Abandoned()
		assert.Zero(t, lost)
		assert.EqualValues(t, 1, repeated.Packets)
		k.balanced(t, &d)
	}
}

// An identification that is used again while a packet with a lost fragment waits does not mix the two.
func TestIdentificationUsedAgain(t *testing.T) {
	before := split(ip4(t, 1000), 400, 7)
	ip := ip4(t, 1000)
	for i := 60; i < len(ip); i++ {
		ip[i] = 'x'
	}
	var d Decoder
	var s Segment
	require.Equal(t, Held, d.Decode(behind(101, "", before[0]), &s))
	require.Equal(t, Held, d.Decode(behind(101, "", before[1]), &s))
	for i, f := range split(ip, 400, 7) {
		p := behind(101, "", f)
		p.Time = 1e9
		v := d.Decode(p, &s)
		require.Equal(t, i == 2, v == TCP)
	}
	assert.Equal(t, ip[52:], s.Payload)
	assert.EqualValues(t, 2, d.Waiting().Packets)
}

// A hole stays a hole: nothing of the packet is a segment.
func TestMissingFragment(t *testing.T) {
	for lost := range 3 {
		var d Decoder
		var s Segment
		var k books
		for i, f := range split(ip4(t, 1000), 400, 7) {
			if i != lost {
				require.Equal(t, Held, k.feed(&d, behind(101, "", f), &s))
				assert.Equal(t, "TCP", d.Protocol())
			}
		}
		// After 30 s it is given up, when another fragment comes.
		other := behind(101, "", split(ip4(t, 1000), 400, 8)[0])
		other.Time = 30 * time.Second.Nanoseconds()
		k.feed(&d, other, &s)
		assert.EqualValues(t, 3, d.Waiting().Packets)
		other = behind(101, "", split(ip4(t, 1000), 400, 9)[0])
		other.Time = 30*time.Second.Nanoseconds() + 1
		k.feed(&d, other, &s)
		assert.EqualValues(t, 2, d.Waiting().Packets)
		gone, repeated := d.Abandoned()
		assert.EqualValues(t, 2, gone.Packets)
		assert.Zero(t, repeated)
		k.balanced(t, &d)
	}
}

// What the snap length cut off: the payload ends where the first byte is missing, its length is that on the wire.
func TestFragmentsCut(t *testing.T) {
	for _, c := range []struct{ cut, captured int }{{0, 1000}, {1, 1000}, {2, 1000}} {
		var d Decoder
		var s Segment
		for i, f := range split(ip4(t, 1000), 400, 7) {
			p := behind(101, "", f)
			if i == c.cut {
				p.Data = p.Data[:60]
			}
			v := d.Decode(p, &s)
			require.Equal(t, i == 2, v == TCP, v)
		}
		assert.Equal(t, 1000, s.PayloadLen)
		captured := c.cut*400 + 40 - 32
		assert.Equal(t, []byte(body(1000)[:captured]), s.Payload)
	}
	var d Decoder
	var s Segment
	for _, f := range split(ip4(t, 1000), 400, 7) {
		p := behind(101, "", f)
		p.Data = p.Data[:28]
		if v := d.Decode(p, &s); v != Held {
			assert.Equal(t, CutHeader, v)
			return
		}
	}
	t.Fatal("never whole")
}

// Fragments of other protocols are what they are; of UDP they may turn out to be, or to be a tunnel.
func TestFragmentsOfOtherThings(t *testing.T) {
	var d Decoder
	var s Segment
	var k books
	icmp := split(overIP(t, false, layers.IPProtocolICMPv4, body(1000)), 400, 1)
	for _, f := range icmp {
		assert.Equal(t, NotTCP, k.feed(&d, behind(101, "", f), &s))
		assert.Equal(t, "ICMP", d.Protocol())
	}
	for i, f := range split(overUDP(t, 53, body(1000)), 400, 2) {
		want := Held
		if i == 2 {
			want = NotTCP
		}
		assert.Equal(t, want, k.feed(&d, behind(101, "", f), &s))
		assert.Equal(t, "UDP", d.Protocol())
	}
	assert.EqualValues(t, 2, d.Earlier().Packets)
	k.balanced(t, &d)
	assert.Zero(t, d.Waiting())
}

// A VXLAN packet in fragments, with fragments of a GRE packet inside, with fragments of TCP inside.
func TestFragmentsInTunnels(t *testing.T) {
	var d Decoder
	var s Segment
	var k books
	packets, link, whole := 0, 0, 0
	for _, inner := range split(ip6(t, 3000), 1000, 3) {
		gre := overIP(t, true, layers.IPProtocolGRE, join("\x00\x00\x86\xdd", inner))
		for _, middle := range split(gre, 600, uint32(packets)) {
			vxlan := overUDP(t, 4789, join("\x08\x00\x00\x00\x00\x00\x64\x00", frameOf(middle)))
			for _, outer := range split(vxlan, 296, uint32(packets)) {
				p := behind(1, hdrEther4, append(outer, "trailer"...))
				packets++
				link += p.WireLen
				if k.feed(&d, p, &s) == TCP {
					whole++
					require.True(t, bytes.Equal(body(3000), s.Payload))
					assert.EqualValues(t, packets-1, d.Earlier().Packets)
					assert.Equal(t, link, p.WireLen+s.Extra)
					assert.Equal(t, 7*packets, s.Padding)
				}
				k.balanced(t, &d)
			}
		}
	}
	assert.Equal(t, 1, whole)
	assert.Zero(t, d.Waiting())
}

// Fragments that no whole packet can have.
func TestImpossibleFragments(t *testing.T) {
	f := split(ip4(t, 1000), 400, 7)
	edit := func(b []byte, at, v int) []byte {
		b = slices.Clone(b)
		binary.BigEndian.PutUint16(b[at:], uint16(v))
		return b
	}
	var d Decoder
	var s Segment
	assert.Equal(t, Malformed, d.Decode(behind(101, "", edit(f[0], 2, 419)), &s), "a length that is no multiple of 8")
	assert.Equal(t, Malformed, d.Decode(behind(101, "", edit(f[0], 2, 20)), &s), "no payload")
	assert.Equal(t, Malformed, d.Decode(behind(101, "", edit(f[2], 6, 0x1fff)), &s), "behind the largest packet")
	assert.Equal(t, Fragment, d.Decode(behind(101, "", f[0][:100]), &s), "cut, and its length forgotten")
	assert.Zero(t, d.Waiting())

	// The last fragment says where the packet ends: what is after that, or says otherwise, is of another packet.
	require.Equal(t, Held, d.Decode(behind(101, "", f[0]), &s))
	require.Equal(t, Held, d.Decode(behind(101, "", f[2]), &s))
	require.Equal(t, Held, d.Decode(behind(101, "", edit(f[1], 6, 0x2000|200)), &s))
	require.Equal(t, TCP, d.Decode(behind(101, "", f[1]), &s))
	assert.True(t, bytes.Equal(body(1000), s.Payload))
	assert.EqualValues(t, 1, d.Waiting().Packets)
}

// However many fragments never become whole, memory stays within its bound, and no time is lost in lists.
func TestFragmentFlood(t *testing.T) {
	var before, after runtime.MemStats
	for _, c := range []struct {
		name string
		edit func(i int, b []byte)
	}{
		{"each of another packet", func(i int, b []byte) {
			binary.BigEndian.PutUint16(b[4:], uint16(i))
			binary.BigEndian.PutUint16(b[12:], uint16(i>>16))
			binary.BigEndian.PutUint16(b[6:], 0x2000|100)
		}},
		{"one packet", func(i int, b []byte) { binary.BigEndian.PutUint16(b[6:], 0x2000|uint16(i%7000)) }},
		{"one packet with holes", func(i int, b []byte) { binary.BigEndian.PutUint16(b[6:], 0x2000|uint16(i*2%7000)) }},
		{"one packet, backwards with holes", func(i int, b []byte) { binary.BigEndian.PutUint16(b[6:], 0x2000|uint16(7000-i*2%7000)) }},
		{"few packets, each place again", func(i int, b []byte) {
			binary.BigEndian.PutUint16(b[4:], uint16(i%50))
			binary.BigEndian.PutUint16(b[6:], 0x2000|uint16(i/50%3000))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			runtime.GC()
			runtime.ReadMemStats(&before)
			var d Decoder
			var s Segment
			var k books
			b := split(ip4(t, 1000), 8, 7)[0]
			p := behind(101, "", b)
			for i := range 200_000 {
				c.edit(i, b)
				v := k.feed(&d, p, &s)
				if v != Held && v != Fragment {
					t.Fatal(v)
				}
			}
			k.balanced(t, &d)
			runtime.GC()
			runtime.ReadMemStats(&after)
			assert.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(8<<20))
			assert.LessOrEqual(t, d.frags.bytes, maxFragmentBytes)
			d.Flush()
			k.balanced(t, &d)
			assert.Zero(t, d.frags.bytes)
			assert.Empty(t, d.frags.open)
		})
	}
}

// After warm-up fragments cost no memory of their own.
func TestFragmentsAllocateNothing(t *testing.T) {
	var d Decoder
	var s Segment
	var packets []*capture.Packet
	for _, f := range split(ip4(t, 3000), 1000, 7) {
		packets = append(packets, behind(1, hdrEther4, f))
	}
	once := func() {
		for _, p := range packets {
			d.Decode(p, &s)
		}
	}
	once()
	once()
	assert.Zero(t, testing.AllocsPerRun(100, once))
	assert.Equal(t, 3000, s.PayloadLen)
}
