package report

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"dubbo-wire/internal/pipeline"
)

// printLen is the number of bytes of a fingerprint in a saved report: Ends, then Start and Machine in one word.
const printLen = 12

// encodePrints returns fingerprints as text.
func encodePrints(list []pipeline.Fingerprint) string {
	b := make([]byte, 0, printLen*len(list))
	for _, p := range list {
		b = binary.BigEndian.AppendUint64(b, p.Ends)
		b = binary.BigEndian.AppendUint32(b, p.Start<<2|uint32(p.Machine))
	}
	return base64.StdEncoding.EncodeToString(b)
}

var errPrints = errors.New(`has an invalid "fingerprints" in "saved"; save it again`)

// decodePrints returns the fingerprints in a text, sorted.
func decodePrints(text string) ([]pipeline.Fingerprint, error) {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b)%printLen != 0 || len(b) > printLen*pipeline.MaxFingerprints {
		return nil, errPrints
	}
	var list []pipeline.Fingerprint
	for ; len(b) > 0; b = b[printLen:] {
		last := binary.BigEndian.Uint32(b[8:])
		list = append(list, pipeline.Fingerprint{Ends: binary.BigEndian.Uint64(b), Start: last >> 2, Machine: uint8(last & 3)})
	}
	slices.SortFunc(list, pipeline.Fingerprint.Compare)
	return slices.Compact(list), nil
}

// sharing is the search for connections that two of several reports have.
type sharing struct {
	list []*Report
	// side is set if all reports have the calls of the same side. Then a connection is counted twice only if the machine is at the
	// same end in both reports.
	side bool
	// before and after are reports with the same connection, one of which ends before the other one begins; nil if there are none.
	before, after *Report
}

// seenIn is a connection in a report.
type seenIn struct {
	pipeline.Fingerprint
	report int // index in the list
}

// find returns two reports that have the same connection at the same time, or nil. It takes time in proportion to the number of
// fingerprints, apart from sorting them.
func (s *sharing) find() (a, b *Report) {
	var all []seenIn
	for i, r := range s.list {
		if r.Fingerprints == nil || r.Totals.Packets == 0 {
			continue
		}
		for _, p := range r.Fingerprints.List {
			all = append(all, seenIn{p, i})
		}
	}
	slices.SortFunc(all, func(x, y seenIn) int {
		return cmp.Or(cmp.Compare(x.Ends, y.Ends), cmp.Compare(s.list[x.report].First, s.list[y.report].First), cmp.Compare(x.report, y.report))
	})
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Ends == all[0].Ends {
			n++
		}
		if all[0].report != all[n-1].report {
			if a, b = s.findAmong(all[:n]); a != nil {
				return a, b
			}
		}
		all = all[n:]
	}
	return nil, nil
}

// findAmong looks for a connection in two reports among those between the same ends, which are sorted by the start of their report.
func (s *sharing) findAmong(same []seenIn) (a, b *Report) {
	for bit := uint8(1); bit <= 2; bit <<= 1 {
		newest := latest{-1, -1}
		byStart := make(map[uint32]*latest)
		for _, e := range same {
			if s.side && e.Machine&bit == 0 {
				continue
			}
			candidates := []*latest{&newest} // a connection joined midway may be any of them
			if e.Start != 0 {
				candidates = []*latest{byStart[e.Start], byStart[0]}
			}
			for _, l := range candidates {
				switch i := l.other(e.report); {
				case i < 0:
				case overlap(s.list[i], s.list[e.report]):
					return s.list[i], s.list[e.report]
				default:
					s.before, s.after = s.list[i], s.list[e.report]
				}
			}
			l := byStart[e.Start]
			if l == nil {
				l = &latest{-1, -1}
				byStart[e.Start] = l
			}
			l.add(s.list, e.report)
			newest.add(s.list, e.report)
		}
		if !s.side {
			break
		}
	}
	return nil, nil
}

// reordered is how long in nanoseconds packets may be out of order where one file of a rotated set ends and the next one begins.
const reordered = int64(10 * time.Millisecond)

// overlap reports whether b, which does not begin before a, begins before a ends, by more than reordered packets explain.
func overlap(a, b *Report) bool {
	shorter := min(a.Last-a.First, b.Last-b.First)
	return min(a.Last, b.Last)-b.First > min(reordered, shorter/100)
}

// latest has the two different reports that end last, by their indexes, or -1.
type latest [2]int

func (l *latest) add(list []*Report, i int) {
	switch {
	case l[0] == i || l[1] == i:
	case l[0] < 0 || list[i].Last > list[l[0]].Last:
		l[0], l[1] = i, l[0]
	case l[1] < 0 || list[i].Last > list[l[1]].Last:
		l[1] = i
	}
}

// other returns the report that ends last, other than i, or -1.
func (l *latest) other(i int) int {
	switch {
	case l == nil:
		return -1
	case l[0] == i:
		return l[1]
	}
	return l[0]
}

// checkShared returns an error if two of the reports have the same connection, and remarks on what was not checked.
func checkShared(list []*Report) (remarks []string, err error) {
	s := sharing{list: list, side: list[0].Side != ""}
	if a, b := s.find(); a != nil {
		if s.side {
			return nil, fmt.Errorf("%s and %s cannot be added up: they have the same connections of the same machine at the same time, whose calls would count twice; "+
				"give the captures to one analyze, or leave one out", a.Origin, b.Origin)
		}
		return nil, fmt.Errorf("%s and %s cannot be added up: they have the same connections at the same time (of both ends, or of overlapping captures of one host), "+
			"whose calls would count twice; save both with --side server, or give the captures to one analyze", a.Origin, b.Origin)
	}
	if s.before != nil {
		remarks = append(remarks, fmt.Sprintf("%s and %s have the same connections, one after the other: a call that is in both counts as unanswered and without request; "+
			"to avoid that, give the captures to one analyze", s.before.Origin, s.after.Origin))
	}
	for _, r := range list {
		switch {
		case r.Fingerprints == nil:
			remarks = append(remarks, r.Origin+" has no fingerprints of connections, so calls that it shares with another report would count twice; save it again")
		case r.Fingerprints.Above > 0:
			remarks = append(remarks, fmt.Sprintf("%s has %s, too many for fingerprints, so calls that it shares with another report would count twice",
				r.Origin, Plural(r.Fingerprints.Above, "connection")))
		}
	}
	return remarks, nil
}
