package hessian2

// A reference is a number: the place of an object in a table that the writer keeps while it writes and that is not on
// the wire. Writers count differently:
//
//   - hessian-lite of Dubbo 2.5 to 3.2 (its own copy, then 3.2.x) counts every object, list and map once.
//   - hessian-lite 4.0.0 to 4.0.4 (Dubbo 3.3) counts a Calendar, then the CalendarHandle that it writes in the Calendar's
//     place; a reference to the Calendar means the second. From 4.0.1 on it does not count URI, LongAdder, InetAddress,
//     InetSocketAddress and UnixDomainSocketAddress at all.
//   - The hessian-lite behind 4.0.4 counts all these once, but not what an InetAddress holds.
//   - The original library counts a Calendar twice, too, in a handle of another name, and the others once.
//
// No writer counts an Iterator or Enumeration: a list of unknown length without type.
//
// The class names are the same, so the object itself does not tell who wrote it. The first reference behind such an
// object starts one more walk of the whole body, which collects what does: see scout.go.
type numbering uint8

const (
	lite3  numbering = iota // 2.5 to 3.2
	lite40                  // 4.0.1 to 4.0.4
	lite41                  // behind 4.0.4
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

// forgotten is what hessian-lite 4 and the original library write as an index for an object that their table holds
// without one: an object within what it replaces itself by (writeReplace). It means nothing; their own readers fail.
const forgotten = -559038737 // 0xdeadbeef, IdentityIntMap.NULL

// table is the object table in all numberings: how many entries it has, and, with a tree, what they mean in the one that
// is used. As long as that is not decided it is lite3, which has an entry for every object, so that the others can be
// made of it.
type table struct {
	count   [numberings]int
	entries []target
	used    numbering
	decided bool
	varied  bool // an object was met that writers count differently

	// rival is the other numbering when two of them fit, with its entries.
	rival        numbering
	unsure       bool
	rivalEntries []target
}

func (t *table) reset() {
	*t = table{entries: emptied(t.entries), rivalEntries: emptied(t.rivalEntries)}
}

func (t *table) add() {
	for i := range t.count {
		t.count[i]++
	}
}

// push adds what node is to the entries.
func (t *table) push(to target) {
	t.entries = append(t.entries, to)
	if t.unsure {
		t.rivalEntries = append(t.rivalEntries, to)
	}
}

// classify says what class the last entry has.
func (t *table) classify(class int32) {
	t.entries[len(t.entries)-1].class = class
	if t.unsure {
		t.rivalEntries[len(t.rivalEntries)-1].class = class
	}
}

// last returns the node of the last entry.
func (t *table) last() int { return int(t.entries[len(t.entries)-1].node) }

// drop takes the last entry away: it is not counted.
func (t *table) drop(recorded bool) {
	for i := range t.count {
		t.count[i]--
	}
	if recorded {
		t.entries = t.entries[:len(t.entries)-1]
		if t.unsure {
			t.rivalEntries = t.rivalEntries[:len(t.rivalEntries)-1]
		}
	}
}

// recount counts the last entry as its class wants.
func (t *table) recount(c counted, recorded bool) {
	for i := range t.count {
		t.count[i] += int(places[c][i]) - 1
	}
	t.varied = t.varied || c.varies()
	if recorded {
		t.entries = counts(t.entries, c, t.used)
		if t.unsure {
			t.rivalEntries = counts(t.rivalEntries, c, t.rival)
		}
	}
}

// counts makes the last entry as many as its class has in n.
func counts(entries []target, c counted, n numbering) []target {
	last := entries[len(entries)-1]
	entries = entries[:len(entries)-1]
	for range places[c][n] {
		entries = append(entries, last)
	}
	return entries
}

// decide settles the numbering: what the entries so far are in it.
func (r *Reader) decide() {
	t := &r.table
	t.decided = true
	if r.original {
		return
	}
	if r.scout == nil {
		r.scout = new(scout)
	}
	v := r.scout.judge(r.c.Buf)
	all := t.entries
	t.used, t.rival, t.unsure = v.used, v.rival, v.unsure
	if r.t == nil {
		return
	}
	if t.unsure {
		t.rivalEntries = r.entriesIn(t.rival, all, t.rivalEntries[:0])
	}
	if t.used != lite3 {
		t.entries = r.entriesIn(t.used, all, nil)
	}
}

// entriesIn makes the entries of another numbering of those of lite3.
func (r *Reader) entriesIn(n numbering, all, to []target) []target {
	for _, e := range all {
		to = append(to, e)
		if e.class < 0 {
			continue
		}
		if c := r.classes[e.class].counted; c.varies() {
			to = counts(to, c, n)
		}
	}
	return to
}

// meant returns what index i refers to. It is not sure where two numberings fit and mean different things.
func (t *table) meant(i int) (to target, sure bool) {
	to = t.entries[i]
	return to, !t.unsure || i < len(t.rivalEntries) && t.rivalEntries[i].node == to.node
}
