package filter

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

type tokenKind int

const (
	tokenEnd    tokenKind = iota
	tokenWord             // a keyword or an operator, in text
	tokenProto            // proto
	tokenNumber           // number
	tokenIPv4             // 1.2, 1.2.3, 1.2.3.4, in text
	tokenIPv6             // addr
	tokenMAC              // mac
	tokenName             // anything else, in text
)

type token struct {
	kind   tokenKind
	column int
	text   string
	number uint32
	proto  proto
	addr   netip.Addr
	mac    [6]byte
}

// lex splits the text into tokens: at every position the longest one, as libpcap's scanner does. So 1-2 is a name, and
// 1 - 2 is a difference.
func (p *parser) lex() {
	for at := 0; at < len(p.text) && p.err == nil; {
		if strings.IndexByte(" \t\r\n", p.text[at]) >= 0 {
			at++
			continue
		}
		t, n, err := scan(p.text[at:])
		if err != nil {
			err.Column = at + 1
			p.err = err
		}
		t.column = at + 1
		p.tokens = append(p.tokens, t)
		at += n
	}
	p.tokens = append(p.tokens, token{kind: tokenEnd, column: len(p.text) + 1})
	if p.err != nil {
		p.at = len(p.tokens) - 1 // as after every error
	}
}

func scan(s string) (token, int, *Error) {
	if t, n := scanColons(s); n > wordLength(s) {
		if n < len(s) && (wordByte(s[n]) || s[n] == ':') {
			return token{}, 0, &Error{Text: fmt.Sprintf("%.40q is not an address", s)}
		}
		return t, n, nil
	}
	if n := wordLength(s); n > 0 {
		t, err := wordToken(s[:n])
		return t, n, err
	}
	if s[0] == '\\' {
		n := 1
		for n < len(s) && !strings.ContainsRune(" !()\n\t", rune(s[n])) {
			n++
		}
		return token{kind: tokenName, text: s[1:n]}, n, nil
	}
	if strings.HasPrefix(s, "==") {
		return token{kind: tokenWord, text: "="}, 2, nil
	}
	for _, op := range []string{">=", "<=", "!=", "<<", ">>", "&&", "||"} {
		if strings.HasPrefix(s, op) {
			return token{kind: tokenWord, text: op}, 2, nil
		}
	}
	if strings.IndexByte("+-*/%:[]!<>()&|^=", s[0]) >= 0 {
		return token{kind: tokenWord, text: s[:1]}, 1, nil
	}
	r := []rune(s[:min(len(s), 4)])[0]
	return token{}, 0, &Error{Text: fmt.Sprintf("unexpected %q", r)}
}

func wordByte(c byte) bool {
	return c == '-' || c == '_' || c == '.' || alnum(c)
}

func alnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// wordLength returns the length of the word at the start of s: letters, digits, hyphens, underscores and dots, without
// hyphens and underscores at its end.
func wordLength(s string) int {
	return len(wordPattern.FindString(s))
}

var wordPattern = regexp.MustCompile(`^[0-9A-Za-z]([-_.0-9A-Za-z]*[.0-9A-Za-z])?`)

// scanColons finds the longest IPv6 or MAC address with colons.
func scanColons(s string) (token, int) {
	n, colons := 0, 0
	for n < len(s) && n < 48 {
		c := s[n]
		if c == ':' {
			colons++
		} else if c != '.' && strings.IndexByte(hexDigits, c) < 0 {
			break
		}
		n++
	}
	if colons < 2 {
		return token{}, 0
	}
	for ; n >= 2; n-- {
		if a, err := netip.ParseAddr(s[:n]); err == nil && a.Is6() {
			return token{kind: tokenIPv6, addr: a, text: s[:n]}, n
		}
		if m, ok := parseMAC(s[:n], ":"); ok {
			return token{kind: tokenMAC, mac: m, text: s[:n]}, n
		}
	}
	return token{}, 0
}

const hexDigits = "0123456789abcdefABCDEF"

// parseMAC reads six groups of one or two hexadecimal digits.
func parseMAC(s, separator string) (m [6]byte, ok bool) {
	groups := strings.Split(s, separator)
	for i, g := range groups {
		switch len(g) {
		case 1:
			groups[i] = "0" + g
		case 2:
		default:
			return m, false
		}
	}
	return twelveDigits(strings.Join(groups, ""))
}

func twelveDigits(s string) (m [6]byte, ok bool) {
	if len(s) != 12 {
		return m, false
	}
	_, err := hex.Decode(m[:], []byte(s))
	return m, err == nil
}

// anyMAC parses MAC addresses without colons: with hyphens, with dots, as three dotted groups of four digits, as twelve
// digits.
func anyMAC(s string) (m [6]byte, ok bool) {
	for _, separator := range []string{"-", "."} {
		if m, ok = parseMAC(s, separator); ok {
			return m, true
		}
	}
	if len(s) == 14 && s[4] == '.' && s[9] == '.' {
		s = s[:4] + s[5:9] + s[10:]
	}
	return twelveDigits(s)
}

func wordToken(s string) (token, *Error) {
	if k, ok := keywords[s]; ok {
		return token{kind: tokenWord, text: k}, nil
	}
	if pr := protoOf(s); pr != protoNone {
		return token{kind: tokenProto, proto: pr, text: s}, nil
	}
	if slices.Contains(unsupportedWords, s) {
		return token{}, &Error{Text: strconv.Quote(s) + " is not supported" + useDDD}
	}
	if n, ok := numbers[s]; ok {
		return token{kind: tokenNumber, number: n, text: s}, nil
	}
	if m, ok := anyMAC(s); ok {
		return token{kind: tokenMAC, mac: m, text: s}, nil
	}
	if s[0] >= '0' && s[0] <= '9' {
		if isNumber(s) {
			v, err := strconv.ParseUint(s, 0, 32)
			if err != nil {
				return token{}, &Error{Text: fmt.Sprintf("%q is not a number of 32 bits", s)}
			}
			return token{kind: tokenNumber, number: uint32(v), text: s}, nil
		}
		if isDotted(s) {
			return token{kind: tokenIPv4, text: s}, nil
		}
	}
	return token{kind: tokenName, text: s}, nil
}

// isNumber reports whether s is a number as in C: decimal, 0x…, or octal with a leading zero.
func isNumber(s string) bool {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return strings.Trim(s[2:], hexDigits) == ""
	}
	return digits(s)
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isDotted(s string) bool {
	groups := strings.Split(s, ".")
	return len(groups) >= 2 && len(groups) <= 4 && !slices.ContainsFunc(groups, func(g string) bool { return !digits(g) })
}

// parseIPv4 parses one to four dotted numbers, left-justified, and returns how many bits they have. Numbers with a
// leading zero are refused, because some programs read them as octal.
func parseIPv4(s string) (addr uint32, bits int, ok bool) {
	for g := range strings.SplitSeq(s, ".") {
		v, err := strconv.ParseUint(g, 10, 8)
		if err != nil || len(g) > 1 && g[0] == '0' {
			return 0, 0, false
		}
		addr = addr<<8 | uint32(v)
		bits += 8
	}
	return addr << (32 - bits), bits, true
}
