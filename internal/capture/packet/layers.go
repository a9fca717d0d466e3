package packet

// LayerKind classifies a header for those who rewrite packets.
type LayerKind uint8

// The kinds of headers.
const (
	// LayerPlain says nothing about a host: tags, labels, lengths and types of tunnels.
	LayerPlain LayerKind = iota
	// LayerAddresses are two Ethernet addresses.
	LayerAddresses
	// LayerCooked is Linux cooked v1 (16 bytes) or v2 (20 bytes).
	LayerCooked
	// LayerWiFi is everything before LLC: radio headers, IEEE 802.11.
	LayerWiFi
	LayerIPv4 // with its options
	LayerIPv6 // 40 bytes
	// LayerExtension is an IPv6 extension header or an authentication header; LayerJumbo is one with the length of the
	// packet.
	LayerExtension
	LayerJumbo
	LayerUDP
	// LayerGRE is a GRE header with a checksum; others are plain.
	LayerGRE
	LayerTCP // with its options
)

// Layer is one header: the bytes [From, To) of a packet. End is the position after what it carries, by its own length,
// as far as that was on the wire. In is the packet: 0 is the captured one, others were reassembled from fragments.
type Layer struct {
	Kind          LayerKind
	In            int
	From, To, End int
}

// Part says that N bytes at At of a reassembled packet are at From in the captured packet Number, counted from 1 by
// Decode.
type Part struct {
	At, N  int
	Number int64
	From   int
}

// Layers holds the positions of the headers of a packet, outermost first. Bytes outside of all of them are payload,
// padding, or do not matter to a TCP segment. Each Decode of a [Decoder.Layers] fills it again.
type Layers struct {
	All []Layer
	// Joined are the captured parts of the packets that were reassembled from fragments (copies), and Parts is where
	// their bytes come from. The header at the start of a reassembled packet repeats the headers of the fragments and
	// is in no part.
	Joined [][]byte
	Parts  [][]Part

	number int64
	base   int // position in the packet of what is being parsed
	size   int // captured bytes of the packet
}

func (l *Layers) begin(captured int) {
	l.number++
	l.All, l.Joined, l.Parts = l.All[:0], l.Joined[:0], l.Parts[:0]
	l.base, l.size = 0, captured
}

// noteHeader records a header at [off, to) of what is being parsed; end is the position after what it carries.
func (d *Decoder) noteHeader(k LayerKind, off, to, end int) {
	if d.Layers != nil {
		d.Layers.add(k, off, to, end)
	}
}

func (l *Layers) add(k LayerKind, off, to, end int) {
	from := min(l.base+off, l.size)
	l.All = append(l.All, Layer{Kind: k, In: len(l.Joined), From: from, To: min(l.base+to, l.size), End: l.base + end})
}

// parts appends where n bytes at off of what is being parsed come from; at is their position in the buffer that keeps
// them.
func (l *Layers) parts(dst []Part, off, n, at int) []Part {
	off += l.base
	if len(l.Joined) == 0 {
		return append(dst, Part{at, n, l.number, off})
	}
	return moveParts(dst, l.Parts[len(l.Parts)-1], off, n, at)
}

// moveParts appends the parts of n bytes at off, with these bytes at at.
func moveParts(dst, parts []Part, off, n, at int) []Part {
	for _, p := range parts {
		if from, to := max(p.At, off), min(p.At+p.N, off+n); from < to {
			dst = append(dst, Part{at + from - off, to - from, p.Number, p.From + from - p.At})
		}
	}
	return dst
}

// joined records a reassembled packet: a header, followed by its pieces.
func (l *Layers) joined(g *datagram, whole []byte) {
	var parts []Part
	at := len(g.head)
	for _, q := range g.pieces {
		parts = moveParts(parts, g.parts, q.at, q.have, at)
		if at += q.have; q.have < q.to-q.from {
			break
		}
	}
	l.Joined = append(l.Joined, append([]byte(nil), whole...))
	l.Parts = append(l.Parts, parts)
	l.base, l.size = 0, len(whole)
}
