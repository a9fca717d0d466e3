package packet

// LayerKind is what a header is, as far as whoever writes packets anew has to know.
type LayerKind uint8

// The kinds of headers.
const (
	// LayerPlain says nothing of a host: tags, labels, lengths and types of tunnels.
	LayerPlain LayerKind = iota
	// LayerAddresses is two Ethernet addresses.
	LayerAddresses
	// LayerCooked is Linux cooked v1 (16 bytes) or v2 (20 bytes).
	LayerCooked
	// LayerWiFi is all before LLC: radio headers, IEEE 802.11.
	LayerWiFi
	LayerIPv4 // with its options
	LayerIPv6 // 40 bytes
	// LayerExtension is an IPv6 extension header or an authentication header; LayerJumbo one with the length of the packet.
	LayerExtension
	LayerJumbo
	LayerUDP
	// LayerGRE is one with a checksum; else it is plain.
	LayerGRE
	LayerTCP // with its options
)

// Layer is one header: the bytes from From up to To of a packet, and End, behind what it carries by its own length, as far
// as that was on the wire. In is the packet: 0 is that which was captured, others are put together from fragments.
type Layer struct {
	Kind          LayerKind
	In            int
	From, To, End int
}

// Part says that N bytes at At of a packet put together lie at From in the packet that was captured as Number, counted
// from 1 by Decode.
type Part struct {
	At, N  int
	Number int64
	From   int
}

// Layers is where in a packet its headers lie, outermost first. What none of them has is payload, padding, or nothing that
// a TCP segment depends on. It is filled anew by each Decode of a [Decoder.Layers].
type Layers struct {
	All []Layer
	// Joined is the packets that were put together from fragments, as far as captured (a copy), and Parts is where their
	// bytes come from. A header that begins them says what the fragments' headers say, and is part of none.
	Joined [][]byte
	Parts  [][]Part

	number int64
	base   int // where what is being read begins in the packet
	size   int // bytes captured of the packet
}

func (l *Layers) begin(captured int) {
	l.number++
	l.All, l.Joined, l.Parts = l.All[:0], l.Joined[:0], l.Parts[:0]
	l.base, l.size = 0, captured
}

// met notes a header from off up to to of what is being read; end is behind what it carries.
func (d *Decoder) noteHeader(k LayerKind, off, to, end int) {
	if d.Layers != nil {
		d.Layers.add(k, off, to, end)
	}
}

func (l *Layers) add(k LayerKind, off, to, end int) {
	from := min(l.base+off, l.size)
	l.All = append(l.All, Layer{Kind: k, In: len(l.Joined), From: from, To: min(l.base+to, l.size), End: l.base + end})
}

// parts is where n bytes at off of what is being read come from; at is their place in what they are kept in.
func (l *Layers) parts(dst []Part, off, n, at int) []Part {
	off += l.base
	if len(l.Joined) == 0 {
		return append(dst, Part{at, n, l.number, off})
	}
	for _, p := range l.Parts[len(l.Parts)-1] {
		if from, to := max(p.At, off), min(p.At+p.N, off+n); from < to {
			dst = append(dst, Part{at + from - off, to - from, p.Number, p.From + from - p.At})
		}
	}
	return dst
}

// joined takes a packet that was put together: its head is head bytes, behind it are its pieces.
func (l *Layers) joined(g *datagram, whole []byte, head int) {
	var parts []Part
	at := head
	for _, q := range g.pieces {
		for _, p := range g.parts {
			if from, to := max(p.At, q.at), min(p.At+p.N, q.at+q.have); from < to {
				parts = append(parts, Part{at + from - q.at, to - from, p.Number, p.From + from - p.At})
			}
		}
		if at += q.have; q.have < q.to-q.from {
			break
		}
	}
	l.Joined = append(l.Joined, append([]byte(nil), whole...))
	l.Parts = append(l.Parts, parts)
	l.base, l.size = 0, len(whole)
}
