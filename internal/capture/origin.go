package capture

import "slices"

// Origin describes an interface of a file.
type Origin struct {
	SnapLen uint32 // largest number of bytes kept of a packet; 0: no limit
	Digits  uint8  // decimal digits of the fractions of seconds in its times; 9 if there are more or if they are binary
}

// Origin returns the origin of p, which must be one of the packets that were returned last.
func (f *Files) Origin(p *Packet) Origin {
	for _, fl := range f.open {
		if fl.index == p.File {
			return fl.stream.reader.iface(p.Interface)
		}
	}
	return Origin{Digits: 9}
}

func (r *pcapReader) iface(int) Origin {
	digits := uint8(9)
	if r.perTick == nanosPerMicro {
		digits = 6
	}
	return Origin{uint32(r.in.SnapLen), digits}
}

func (r *pcapngReader) iface(id int) Origin {
	if id >= len(r.ifaces) {
		return Origin{Digits: 9}
	}
	i, digits, units := &r.ifaces[id], uint8(0), uint64(1)
	for ; units < i.units && digits < 9; units *= 10 {
		digits++
	}
	if units != i.units {
		digits = 9
	}
	return Origin{i.snapLen, digits}
}

// Ended reports whether Next has returned all packets of an input, which is given by its index.
func (f *Files) Ended(input int) bool {
	isInput := func(fl *file) bool { return fl.index == input }
	return !slices.ContainsFunc(f.open, isInput) && !slices.ContainsFunc(f.pending, isInput)
}
