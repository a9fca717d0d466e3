package hessian2

import "sort"

// numbering is a way to count objects. A reference is a number: the place of an object in a table that the writer keeps
// while it writes and that is not on the wire. Writers count differently:
//
//   - hessian-lite of Dubbo 2.5 to 3.2 (its own copy, then 3.2.x) counts every object, list and map once.
//   - hessian-lite 4.0.0 to 4.0.4 (Dubbo 3.3) counts a Calendar, then the CalendarHandle that it writes in the Calendar's
//     place; a reference to the Calendar means the second. From 4.0.1 on it does not count URI, LongAdder, InetAddress,
//     InetSocketAddress and UnixDomainSocketAddress at all.
//   - The hessian-lite after 4.0.4 counts all these once, but not the holder within an InetAddress.
//   - The original library counts a Calendar twice, too, in a handle of another name, and the others once.
//
// No writer counts an Iterator or Enumeration: a list of unknown length without type.
//
// The class names are the same, so the object itself does not show who wrote it. The first reference after such an object
// starts one more walk of the whole body, which collects evidence: see writers.go.
type numbering uint8

const (
	lite3  numbering = iota // 2.5 to 3.2
	lite40                  // 4.0.1 to 4.0.4
	lite41                  // after 4.0.4
	numberings
)

// counted is how many places of the object table an object of a class takes.
type counted uint8

const (
	once counted = iota
	calendar
	holder // of an address
	address
	original // com.caucho's Calendar
)

var places = [...][numberings]uint8{
	once:     {1, 1, 1},
	calendar: {1, 2, 1},
	holder:   {1, 0, 0},
	address:  {1, 0, 1},
	original: {2, 2, 2},
}

// varies reports whether writers count such objects differently.
func (c counted) varies() bool { return c == calendar || c == holder || c == address }

// handlePackage is where hessian-lite keeps the classes that it writes in place of others.
const handlePackage = "com.alibaba.com.caucho.hessian.io."

// countedAs judges a class by its name and that of its first field, encoded strings.
func countedAs(name, first []byte) counted {
	switch string(plain(name)) {
	case handlePackage + "CalendarHandle":
		return calendar
	case "com.caucho.hessian.io.CalendarHandle":
		return original
	case "java.net.URI", "java.util.concurrent.atomic.LongAdder$SerializationProxy", "java.net.UnixDomainSocketAddress$Ser":
		return address
	case "java.net.InetAddress", "java.net.Inet6Address": // of older writers it has other fields, or none
		if string(plain(first)) == "holder" {
			return address
		}
	case "java.net.InetSocketAddress":
		if string(plain(first)) == "hostName" {
			return address
		}
	case "java.net.InetAddress$InetAddressHolder", "java.net.Inet6Address$Inet6AddressHolder":
		return holder
	}
	return once
}

// plain returns the bytes of a string of one short chunk without its length, nil for others.
func plain(b []byte) []byte {
	switch {
	case len(b) > 0 && b[0] < 0x20:
		return b[1:]
	case len(b) > 1 && b[0] >= 0x30 && b[0] <= 0x33:
		return b[2:]
	}
	return nil
}

// noIndex is the index that hessian-lite 4 and the original library write for an object that their table holds without
// one: an object within its own replacement (writeReplace). It means nothing; their own readers fail.
const noIndex = -559038737 // 0xdeadbeef, IdentityIntMap.NULL

// target is an object, list or map that references can mean.
type target struct {
	node int32 // in the tree, negative without one
	what what
}

// what says what a target is: aList, aMap, ofClass or ofArray.
type what int32

const (
	aList what = 1 // any but an array
	aMap  what = 2
)

func ofClass(i int) what { return what(i)<<2 | 3 }
func ofArray(i int) what { return what(i+1) << 2 } // by type of list

// class returns the index of a class, -1 of a list or a map.
func (w what) class() int {
	if w&3 != 3 {
		return -1
	}
	return int(w >> 2)
}

// table is the object table: its entries in the order of the wire, and the places in which they stand in each numbering.
// An entry takes the place after that of the entry before it, unless it is irregular.
type table struct {
	n         int32    // number of entries
	entries   []target // empty where references have no targets: bytes are counted
	counting  bool
	irregular []irregularEntry
	used      numbering
	decided   bool
	varied    bool // an object was met that writers count differently

	// rival is the other numbering when two of them fit.
	rival  numbering
	unsure bool
}

// irregularEntry is an entry that takes no place or two places in some numbering; next is the place after them.
type irregularEntry struct {
	entry   int32
	counted counted
	next    [numberings]int32
}

func (t *table) reset() { *t = table{entries: emptied(t.entries), irregular: emptied(t.irregular)} }

// add adds an entry, which takes one place, and returns its index.
func (t *table) add(to target) int32 {
	if !t.counting {
		t.entries = append(t.entries, to)
	}
	t.n++
	return t.n - 1
}

// counts gives the last entry the places of its class, of which there is not exactly one in every numbering.
func (t *table) counts(c counted) {
	o := irregularEntry{entry: t.n - 1, counted: c}
	for n := range o.next {
		o.next[n] = t.place(numbering(n), o.entry) + int32(places[c][n])
	}
	t.irregular = append(t.irregular, o)
	t.varied = t.varied || c.varies()
}

// place returns the first place of an entry after the last irregular one.
func (t *table) place(n numbering, entry int32) int32 {
	if k := len(t.irregular); k > 0 {
		return t.irregular[k-1].next[n] + entry - t.irregular[k-1].entry - 1
	}
	return entry
}

// size returns how many places there are.
func (t *table) size(n numbering) int32 { return t.place(n, t.n) }

// find returns the entry in a place, -1 where there is none, and whether the place is the entry's last.
func (t *table) find(n numbering, place int) (entry int, last bool) {
	if place < 0 || place >= int(t.size(n)) {
		return -1, false
	}
	k := sort.Search(len(t.irregular), func(k int) bool { return int(t.irregular[k].next[n]) > place })
	if k < len(t.irregular) {
		if o := &t.irregular[k]; place >= int(o.next[n])-int(places[o.counted][n]) {
			return int(o.entry), place == int(o.next[n])-1
		}
	}
	if k > 0 {
		o := &t.irregular[k-1]
		place += int(o.entry) + 1 - int(o.next[n])
	}
	return place, true
}

// decide settles the numbering.
func (r *Reader) decide() {
	t := &r.table
	t.decided = true
	if r.original {
		return
	}
	if r.detector == nil {
		r.detector = new(detector)
	}
	r.detector.dubbo3 = r.dubbo3
	v := r.detector.judge(r.Buf)
	t.used, t.rival, t.unsure = v.used, v.rival, v.unsure
}
