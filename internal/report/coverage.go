package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/term"
)

const coverageTitle = "COVERAGE"

// coverageSection describes in sentences what was captured and what is missing.
func (r *Report) coverageSection(s *Style) Section {
	sec := Section{Title: coverageTitle}
	r.streams(s, &sec)
	r.connections(sec.note)
	r.calls(s, sec.note)
	r.unresolved(sec.note)
	r.bodies(sec.note)
	r.otherProtocols(s, sec.note)
	r.packets(&sec)
	r.inputs(s, sec.note)
	if r.Filtered {
		sec.note("The filter selects calls. ON THE WIRE and COVERAGE describe the whole capture.")
	}
	if r.Saved {
		sec.note("%s", fromSaved)
	}
	return sec
}

// noteCount adds a sentence that begins with a count and its words, unless the count is 0.
func (sec *Section) noteCount(n int64, one, many, rest string) {
	if n > 0 {
		sec.note("%s %s", plural(n, one, many), rest)
	}
}

// fromSaved is the note of a report that was read from files and has no packets.
const fromSaved = "Read from saved reports, which have no packets: no findings, no pairs, no single calls."

// streams describes how much of the Dubbo streams was captured.
func (r *Report) streams(s *Style, sec *Section) {
	t := r.Totals
	if t.Frames == 0 {
		sec.note("N%s.", r.noFrames(s)[1:])
	} else {
		complete := ""
		if r.complete() {
			complete = ": nothing was lost, cut or skipped"
		}
		sec.note("%s of %s bytes are in complete frames%s.", formatCoverage(r.Percent(), s.Exact), r.Whose(), complete)
	}
	if t.Gap > 0 {
		sec.note("%s.", r.gapText(s))
	}
	if t.Incomplete > 0 {
		sec.note("Incomplete: %s. Tables count the calls, but not the sizes of these frames.", Plural(t.Incomplete, "frame"))
	}
	if t.Skipped > 0 {
		sec.note("Skipped: %s on %s connections that belong to no frame.%s", bytesText(t.Skipped, s), strings.TrimSuffix(r.Whose(), "'s"), r.betweenText(s))
	}
	sec.noteCount(t.Resynced, "frame was", "frames were", "found by resynchronizing.")
	sec.noteCount(t.NegativeLengths, "header announces", "headers announce", "an impossible length.")
}

// noFrames says what was searched for frames, beginning with "no".
func (r *Report) noFrames(s *Style) string {
	if r.Totals.TCP.Data == 0 {
		return "no TCP packet with payload was read"
	}
	return "no Dubbo frame was found in " + bytesText(r.Totals.TCP.Stream, s) + " of TCP payload"
}

// complete reports whether no loss is known.
func (r *Report) complete() bool { return len(r.losses(&Style{})) == 0 }

// cutPackets returns how many packets lack more than what follows their IP packet.
func (r *Report) cutPackets() (n int64) {
	for i := range r.Inputs {
		n += r.Inputs[i].Truncated
	}
	return max(0, n-r.Totals.WithoutTrailer)
}

// betweenText describes the skipped bytes that are not next to a gap.
func (r *Report) betweenText(s *Style) string {
	if r.Totals.Between == 0 {
		return ""
	}
	what := bytesText(r.Totals.Between, s) + " of them"
	if r.Totals.Between == r.Totals.Skipped {
		what = "They"
	}
	text := " " + what + " lie between frames without a gap."
	if len(r.Totals.Control) == 0 || slices.ContainsFunc(slices.Collect(maps.Keys(r.Totals.Control)), isDubbo) {
		text += " Providers before Dubbo 2.5.6 send such bytes after an error if they cannot write a result."
	}
	return text
}

// gapText describes the bytes missing from connections with frames, and the cause.
func (r *Report) gapText(s *Style) string {
	t := r.Totals
	text := "Missing from " + r.Whose() + " streams: " + bytesText(t.Gap, s)
	lost, cut := t.LostBytes, t.Gap-t.LostBytes
	gaps := Plural(t.LostGaps, "gap")
	switch {
	case cut == 0:
		return text + " in " + gaps + ", never captured"
	case lost == 0:
		return text + ", cut off by the snap length"
	}
	return text + fmt.Sprintf(": %s never captured (%s), %s cut off by the snap length", bytesText(lost, s), gaps, bytesText(cut, s))
}

func (r *Report) connections(add func(string, ...any)) {
	t := r.Totals
	if r.ConnectionsWithoutData == 0 && t.TCP.Joined == 0 {
		return // the first line of the report has the number
	}
	text := Plural(r.Connections, "TCP connection") + " with payload"
	if r.ConnectionsWithoutData > 0 {
		text += fmt.Sprintf(", %s without", Count(r.ConnectionsWithoutData))
	}
	if t.TCP.Joined > 0 {
		text += fmt.Sprintf("; %s joined midway (open before the capture began)", Count(t.TCP.Joined))
	}
	add("%s.", text)
}

// unresolved says of how many messages the headers do not tell all, and what to do.
func (r *Report) unresolved(add func(string, ...any)) {
	t := r.Totals
	var what []string
	if t.Unnamed > 0 {
		what = append(what, "Service and method of "+Plural(t.Unnamed, "request"))
	}
	if t.WithoutStatus > 0 {
		what = append(what, "status of "+Plural(t.WithoutStatus, "response"))
	}
	if len(what) == 0 {
		return
	}
	text := strings.Join(what, " and ")
	add("%s: unknown, because their headers refer to headers sent before the capture began or in a gap. Sizes are exact. "+
		"A new connection starts with complete headers: begin the capture, then restart a client.", strings.ToUpper(text[:1])+text[1:])
}

func (r *Report) calls(s *Style, add func(string, ...any)) {
	t := r.Totals
	var parts []string
	switch {
	case t.NoResponses():
		add("No responses captured: %s with packets from the clients only. Record both directions.", Plural(t.OneSided, "connection"))
	case t.NoRequests():
		add("No requests captured: %s with packets from the servers only. Record both directions.", Plural(t.OneSided, "connection"))
	}
	if t.Unanswered > 0 {
		text := Plural(t.Unanswered, "request") + " unanswered"
		if t.Expired > 0 {
			text += fmt.Sprintf(" (%s given up because too many were open: --max-open-calls)", Count(t.Expired))
		}
		if t.ExpiredByTime > 0 {
			text += fmt.Sprintf(" (%s given up after waiting for too long: --call-timeout)", Count(t.ExpiredByTime))
		}
		parts = append(parts, text)
	}
	parts = appendCount(parts, t.Orphans, "response", " without request")
	switch {
	case len(parts) > 0:
		add("%s.", strings.Join(appendCount(parts, t.OneWay, "one-way call", ""), ", "))
	case t.OneWay > 0:
		add("Every request has its response, except %s, which have none.", Plural(t.OneWay, "one-way call"))
	case t.Calls > 0:
		add("Every request has its response.")
	}
	events := appendCount(nil, t.Heartbeats, "heartbeat frame", "")
	events = appendCount(events, t.Events, "event frame", "")
	if len(events) > 0 {
		add("Not counted as calls: %s (%s on the wire).", strings.Join(events, ", "), bytesText(t.EventBytes, s))
	}
}

// appendCount appends a count with its noun and the words after it, unless the count is 0.
func appendCount(list []string, n int64, noun, rest string) []string {
	if n == 0 {
		return list
	}
	return append(list, Plural(n, noun)+rest)
}

// bodies describes how completely bodies were decoded, if they were decoded at all.
func (r *Report) bodies(add func(string, ...any)) {
	t := r.Totals
	if t.BodiesDecoded+t.BodiesPartly+t.BodiesOpaque > 0 {
		text := fmt.Sprintf("Bodies: %s decoded, %s partly, %s opaque",
			Count(t.BodiesDecoded), Count(t.BodiesPartly), Count(t.BodiesOpaque))
		var causes []string
		for _, cause := range byCount(t.Causes) {
			causes = append(causes, cause+" "+Count(t.Causes[cause]))
		}
		if len(causes) > 0 {
			text += " (" + strings.Join(causes, ", ") + ")"
		}
		add("%s.", text)
	}
	for _, c := range contradictions(t) {
		header := c.Header
		if id := fmt.Sprintf("id %d", c.HeaderID); header != id {
			header += " (" + id + ")"
		}
		add("%s decoded as %s because the bytes are %s, although the header says %s.", plural(t.Contradicted[c], "body was", "bodies were"), c.Body, c.Body, header)
	}
	if len(t.Layouts) > 0 {
		var names []string
		for _, name := range byCount(t.Layouts) {
			names = append(names, term.Clean(name)+" ("+Plural(t.Layouts[name], "request")+")")
		}
		add("Requests in the body layout of a fork: %s.", strings.Join(names, ", "))
	}
	if len(t.UnknownIDs) > 0 {
		var ids []string
		for _, id := range slices.Sorted(maps.Keys(t.UnknownIDs)) {
			ids = append(ids, fmt.Sprintf("%d (%s)", id, Plural(t.UnknownIDs[id], "frame")))
		}
		noun := "Unknown serialization id"
		if len(ids) > 1 {
			noun += "s"
		}
		add("%s, measured but not decoded: %s.", noun, strings.Join(ids, ", "))
	}
}

// contradictions returns the serializations that headers and bodies disagree about, sorted by id and name.
func contradictions(t *pipeline.Totals) []pipeline.Contradiction {
	return slices.SortedFunc(maps.Keys(t.Contradicted), func(a, b pipeline.Contradiction) int {
		return cmp.Or(cmp.Compare(a.HeaderID, b.HeaderID), cmp.Compare(a.Body, b.Body))
	})
}

// otherProtocols describes the streams of other protocols.
func (r *Report) otherProtocols(s *Style, add func(string, ...any)) {
	t := r.Totals
	var parts, control, names []string
	for _, name := range t.OtherProtocols() {
		o := t.Other[name]
		if len(o.Handshakes) > 0 {
			names = append(names, handshakes(name, o, s))
		}
		text := fmt.Sprintf("%s on %s (%s)", term.Clean(name), Plural(o.Connections, "connection"), bytesText(o.Bytes, s))
		if o.Control {
			control = append(control, text)
		} else {
			parts = append(parts, text)
		}
	}
	if len(control) > 0 {
		add("Control bytes outside calls: %s.", strings.Join(control, ", "))
	}
	if len(parts) > 0 {
		add("Payload of other protocols, measured but not decoded: %s.", strings.Join(parts, ", "))
	}
	for _, text := range names {
		add("%s", text)
	}
}

// packets describes packets that were cut or could not be read.
func (r *Report) packets(sec *Section) {
	most := 0
	for i := range r.Inputs {
		if r.Inputs[i].Truncated > 0 {
			most = max(most, r.Inputs[i].CutTo)
		}
	}
	to := ""
	if most > 0 {
		to = ", to " + Plural(int64(most), "byte") + " or less"
	}
	sec.noteCount(r.cutPackets(), "packet was", "packets were", "cut by the snap length"+to+"; tcpdump -s 0 records complete packets.")
	sec.noteCount(r.Totals.WithoutTrailer, "packet lacks", "packets lack", "only bytes after the IP packet (padding, link checksum), which carry no data.")
	if u := r.Totals.Unread; len(u) > 0 {
		var parts []string
		for _, k := range byCount(u) {
			parts = append(parts, term.Clean(k)+" "+Count(u[k]))
		}
		sec.note("Packets that could not be read: %s.", strings.Join(parts, ", "))
	}
	if n := r.Totals.ClockSteps; n > 0 {
		sec.note("The clock of the recording machine was set %s. Rates use the elapsed time; latencies across such a step are wrong.",
			Plural(n, "time"))
	}
	r.segments(sec)
	r.dropped(sec.note)
}

// segments describes duplicate, contradictory and stray TCP segments, and connections that ended early.
func (r *Report) segments(sec *Section) {
	tcp := &r.Totals.TCP
	if n := tcp.Duplicates; n > 0 {
		sec.note("Duplicate captures: %s with payload (port mirror, several interfaces, both ends), counted once.", Plural(n, "packet"))
	}
	sec.noteCount(tcp.Differing, "packet repeats bytes", "packets repeat bytes", "with other content than the first copy. The first copy counts.")
	sec.noteCount(tcp.Strays, "stray packet", "stray packets", "("+Plural(tcp.Stray+tcp.Unplaced, "payload byte")+") that did not fit into a connection. Its bytes belong to no frame.")
	sec.noteCount(r.Totals.OffloadedPackets, "packet is", "packets are",
		"larger than Ethernet carries: recorded on loopback or above segmentation offload. On a wire they are more packets, with more header bytes.")
	sec.noteCount(tcp.Idle, "connection was", "connections were",
		"closed before the end of the capture because they were idle for too long (--idle-timeout).")
	sec.noteCount(tcp.Expired-tcp.Idle, "connection was", "connections were",
		"closed before the end of the capture because too many were open (--max-connections).")
	sec.noteCount(tcp.Forgotten, "connection", "connections", "without payload forgotten because too many were open.")
}

// dropped describes the packets that the recording machine dropped.
func (r *Report) dropped(add func(string, ...any)) {
	n, known, all := int64(0), 0, 0
	pcap := true
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Err != "" {
			continue
		}
		all++
		if in.Dropped != nil {
			n += *in.Dropped
			known++
		} else if in.Format != "pcap" {
			pcap = false
		}
	}
	switch {
	case all == 0:
	case known == all:
		add("Kernel drops: %s.", Plural(n, "packet"))
	case known > 0:
		add("Kernel drops: %s in %d of %d files, unknown in the others.", Plural(n, "packet"), known, all)
	case pcap:
		add("Kernel drops: unknown (pcap files do not record them).")
	case all == 1:
		add("Kernel drops: unknown (the file does not record them).")
	default:
		add("Kernel drops: unknown (the files do not record them).")
	}
}

// inputs describes damaged and unreadable files, and capture filters. On a terminal the messages about damage stand on standard
// error already.
func (r *Report) inputs(s *Style, add func(string, ...any)) {
	for i := range r.Inputs {
		in := &r.Inputs[i]
		if in.Filter != "" {
			add("Only packets that match %q were captured on %s. No number includes other traffic.",
				term.Clean(in.Filter), term.Clean(in.File))
		}
		if in.Err != "" {
			add("Not read: %s", term.Clean(in.Err))
		}
		for _, d := range in.Damage {
			text := ""
			if s.Width == 0 {
				text = ": " + term.Clean(d.Text)
			}
			add("Damaged: %s, packet %s, byte offset %s%s", term.Clean(in.File), Count(d.Packet), Count(d.Offset), text)
		}
	}
}
