package packet

import (
	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"dubbo-wire/internal/capture"
)

// wifiLayers finds the LLC header of unencrypted IEEE 802.11 data, with or without a radio header, with gopacket's
// layers.
type wifiLayers struct {
	parsers  map[capture.LinkType]*gopacket.DecodingLayerParser // by link type
	radiotap layers.RadioTap
	prism    layers.PrismHeader
	dot11    layers.Dot11
	data     layers.Dot11Data
	llc      llcSink
	decoded  []gopacket.LayerType
	scratch  []byte
}

// llcSink is a decoding layer that only stores where LLC starts.
type llcSink struct{ data []byte }

func (l *llcSink) DecodeFromBytes(data []byte, _ gopacket.DecodeFeedback) error {
	l.data = data
	return nil
}
func (l *llcSink) CanDecode() gopacket.LayerClass    { return layers.LayerTypeLLC }
func (l *llcSink) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (l *llcSink) LayerPayload() []byte              { return nil }

func newWifiLayers() *wifiLayers {
	w := &wifiLayers{parsers: make(map[capture.LinkType]*gopacket.DecodingLayerParser)}
	for link, first := range map[capture.LinkType]gopacket.LayerType{
		capture.LinkIEEE80211: layers.LayerTypeDot11,
		capture.LinkRadiotap:  layers.LayerTypeRadioTap,
		capture.LinkPrism:     layers.LayerTypePrismHeader,
	} {
		parser := gopacket.NewDecodingLayerParser(first, &w.radiotap, &w.prism, &w.dot11, &w.data, &w.llc)
		parser.IgnoreUnsupported = true
		w.parsers[link] = parser
	}
	return w
}

// wifi parses a copy of the packet. gopacket takes the last four bytes for a frame check sequence, which link types
// without radiotap do not have, and moves bytes if a driver has padded them.
func (d *Decoder) wifi(p *capture.Packet) Verdict {
	w := d.wifiLayers
	if w == nil {
		w = newWifiLayers()
		d.wifiLayers = w
	}
	w.scratch = append(w.scratch[:0], p.Data...)
	if p.Link != capture.LinkRadiotap {
		w.scratch = append(w.scratch, 0, 0, 0, 0)
	}
	w.llc.data = nil
	if err := w.parsers[p.Link].DecodeLayers(w.scratch, &w.decoded); err != nil {
		if p.Truncated() {
			return CutHeader
		}
		return Malformed
	}
	if w.llc.data == nil {
		return NotTCP // management, control, encrypted
	}
	n := len(w.llc.data) + p.Missing()
	if p != &d.inner {
		d.begin(p)
	}
	if d.Layers != nil {
		// A frame check sequence after LLC is not part of its data; for the other types one was added above.
		tail := 0
		if p.Link == capture.LinkRadiotap && w.radiotap.RadioTapValues[0].Flags.FCS() {
			tail = 4
		}
		off := max(0, len(p.Data)-len(w.llc.data)-tail)
		d.noteHeader(LayerWiFi, 0, off, p.WireLen)
		d.Layers.base += off
	}
	if p.Link == capture.LinkRadiotap && w.radiotap.RadioTapValues[0].Flags.FCS() && !p.Truncated() {
		d.trailing += 4
	}
	d.inner.Data, d.inner.WireLen, d.inner.Time = w.llc.data, n, p.Time
	d.innerKind = 1 // as an IEEE 802.3 length: LLC follows
	return inside
}
