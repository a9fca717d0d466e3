package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// mkpcap makes a capture of a text in which odd and hostile traffic is written, commented, for people to review:
//
//	# a comment, up to the end of the line
//	link 147                        the link type of the file (default 1, Ethernet)
//	connection CLIENT SERVER        addresses with ports; the three packets of the handshake are made, unless
//	midway CLIENT SERVER            the capture begins later
//	> BYTES                         the client sends; indented lines go on
//	< BYTES                         the server sends
//	skip > N                        N bytes that the client sent are not in the capture
//	back > N                        the client sends its last N bytes again: the next ones begin there
//	fin                             both ends close
//	snap N                          later packets have only N bytes in the capture
//	wait 20ms                       time passes (1 ms passes with every packet)
//	packet BYTES                    a packet as it is, from the link layer on
//
// BYTES are hex digits, "text" in Go's syntax, "length" for four bytes that say how many bytes follow it, and "x N"
// after a byte or a text to repeat it. What is longer than a segment (1460 bytes) goes into several packets.
func mkpcap(text string) ([]byte, error) {
	m := &pcapMaker{now: time.Date(2026, 11, 21, 3, 4, 11, 0, time.UTC), link: 1}
	if err := m.connect("10.0.0.1:40000", "10.0.0.2:20880"); err != nil {
		return nil, err
	}
	var verb, rest string
	flush := func() error {
		if verb == "" {
			return nil
		}
		err := m.do(verb, rest)
		verb = ""
		return err
	}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(cutComment(line), " \t")
		switch {
		case line == "":
			continue
		case line[0] == ' ' || line[0] == '\t':
			rest += " " + line
			continue
		}
		if err := flush(); err != nil {
			return nil, fmt.Errorf("before line %d: %w", n+1, err)
		}
		verb, rest, _ = strings.Cut(line, " ")
	}
	if err := flush(); err != nil {
		return nil, fmt.Errorf("last line: %w", err)
	}
	return m.file(), nil
}

func cutComment(line string) string {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '#' && !quoted:
			return line[:i]
		}
	}
	return line
}

type pcapMaker struct {
	out  bytes.Buffer // records
	link uint32
	now  time.Time
	snap int
	ends [2]netip.AddrPort
	seq  [2]uint32
	open bool // the handshake was made, or is not wanted
}

const segmentSize = 1460

func (m *pcapMaker) connect(client, server string) error {
	var err error
	for i, s := range []string{client, server} {
		if m.ends[i], err = netip.ParseAddrPort(s); err != nil {
			return err
		}
	}
	m.seq = [2]uint32{1000, 5000}
	m.open = false
	return nil
}

func (m *pcapMaker) do(verb, rest string) error {
	words := strings.Fields(rest)
	number := func(i int) (int, error) {
		if i >= len(words) {
			return 0, fmt.Errorf("%s: a number is missing", verb)
		}
		return strconv.Atoi(words[i])
	}
	side := 0
	if len(words) > 0 && words[0] == "<" {
		side = 1
	}
	switch verb {
	case "link":
		n, err := number(0)
		m.link = uint32(n)
		return err
	case "connection", "midway":
		if len(words) != 2 {
			return fmt.Errorf("%s CLIENT SERVER", verb)
		}
		err := m.connect(words[0], words[1])
		m.open = verb == "midway"
		return err
	case ">", "<":
		b, err := parseBytes(rest)
		if err != nil {
			return err
		}
		m.send(map[string]int{">": 0, "<": 1}[verb], b)
	case "skip", "back":
		n, err := number(1)
		if err != nil {
			return err
		}
		m.handshake()
		if verb == "back" {
			n = -n
		}
		m.seq[side] += uint32(n)
	case "fin":
		m.segment(0, 0x11, nil)
		m.segment(1, 0x11, nil)
	case "snap":
		n, err := number(0)
		m.snap = n
		return err
	case "wait":
		d, err := time.ParseDuration(strings.TrimSpace(rest))
		m.now = m.now.Add(d)
		return err
	case "packet":
		b, err := parseBytes(rest)
		if err != nil {
			return err
		}
		m.record(b)
	default:
		return fmt.Errorf("unknown verb %q", verb)
	}
	return nil
}

func (m *pcapMaker) handshake() {
	if m.open {
		return
	}
	m.open = true
	m.segment(0, 0x02, nil)
	m.segment(1, 0x12, nil)
	m.segment(0, 0x10, nil)
}

func (m *pcapMaker) send(side int, b []byte) {
	m.handshake()
	for len(b) > 0 {
		n := min(len(b), segmentSize)
		m.segment(side, 0x18, b[:n])
		b = b[n:]
	}
}

func (m *pcapMaker) segment(side int, flags byte, payload []byte) {
	from, to := m.ends[side], m.ends[1-side]
	tcp := make([]byte, 20, 20+len(payload))
	binary.BigEndian.PutUint16(tcp[0:], from.Port())
	binary.BigEndian.PutUint16(tcp[2:], to.Port())
	binary.BigEndian.PutUint32(tcp[4:], m.seq[side])
	if flags&0x10 != 0 {
		binary.BigEndian.PutUint32(tcp[8:], m.seq[1-side])
	}
	tcp[12], tcp[13] = 5<<4, flags
	binary.BigEndian.PutUint16(tcp[14:], 65535)
	m.seq[side] += uint32(len(payload))
	if flags&0x03 != 0 {
		m.seq[side]++
	}
	tcp = append(tcp, payload...)

	var p []byte
	if from.Addr().Is4() {
		p = append(make([]byte, 12), 0x08, 0x00)
		ip := make([]byte, 20)
		ip[0], ip[8], ip[9] = 0x45, 64, 6
		binary.BigEndian.PutUint16(ip[2:], uint16(20+len(tcp)))
		a, b := from.Addr().As4(), to.Addr().As4()
		copy(ip[12:], a[:])
		copy(ip[16:], b[:])
		p = append(p, ip...)
	} else {
		p = append(make([]byte, 12), 0x86, 0xdd)
		ip := make([]byte, 40)
		ip[0], ip[6], ip[7] = 0x60, 6, 64
		binary.BigEndian.PutUint16(ip[4:], uint16(len(tcp)))
		a, b := from.Addr().As16(), to.Addr().As16()
		copy(ip[8:], a[:])
		copy(ip[24:], b[:])
		p = append(p, ip...)
	}
	m.record(append(p, tcp...))
}

func (m *pcapMaker) record(p []byte) {
	wire := len(p)
	if m.snap > 0 {
		p = p[:min(m.snap, len(p))]
	}
	h := make([]byte, 16)
	binary.LittleEndian.PutUint32(h[0:], uint32(m.now.Unix()))
	binary.LittleEndian.PutUint32(h[4:], uint32(m.now.Nanosecond()/1000))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(p)))
	binary.LittleEndian.PutUint32(h[12:], uint32(wire))
	m.out.Write(h)
	m.out.Write(p)
	m.now = m.now.Add(time.Millisecond)
}

func (m *pcapMaker) file() []byte {
	h := make([]byte, 24)
	binary.LittleEndian.PutUint32(h[0:], 0xa1b2c3d4)
	binary.LittleEndian.PutUint16(h[4:], 2)
	binary.LittleEndian.PutUint16(h[6:], 4)
	snap := uint32(262144)
	if m.snap > 0 {
		snap = uint32(m.snap)
	}
	binary.LittleEndian.PutUint32(h[16:], snap)
	binary.LittleEndian.PutUint32(h[20:], m.link)
	return append(h, m.out.Bytes()...)
}

// parseBytes reads hex digits, texts, lengths and repetitions.
func parseBytes(s string) ([]byte, error) {
	var out []byte
	var lengths []int // places to fill
	last := 0         // where the last item begins
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		if s[0] == '"' {
			quoted, err := strconv.QuotedPrefix(s)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s, err)
			}
			text, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, err
			}
			last = len(out)
			out, s = append(out, text...), s[len(quoted):]
			continue
		}
		word, rest, _ := strings.Cut(s, " ")
		s = rest
		switch word {
		case "length":
			last = len(out)
			lengths = append(lengths, last)
			out = append(out, 0, 0, 0, 0)
		case "x":
			count, rest, _ := strings.Cut(strings.TrimSpace(s), " ")
			n, err := strconv.Atoi(count)
			if err != nil || n < 1 || n*(len(out)-last) > 16<<20 {
				return nil, fmt.Errorf("x %s: not a number of repetitions", count)
			}
			out, s = append(out, bytes.Repeat(out[last:], n-1)...), rest
		default:
			b, err := hex.DecodeString(word)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", word, err)
			}
			last = len(out)
			out = append(out, b...)
		}
	}
	for _, at := range lengths {
		binary.BigEndian.PutUint32(out[at:], uint32(len(out)-at-4))
	}
	return out, nil
}
