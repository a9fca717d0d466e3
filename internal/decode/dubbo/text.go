package dubbo

// text decides whether a run of bytes is Dubbo's telnet: lines of printable UTF-8 with the control bytes that terminals
// send. It reads byte by byte, so the result does not depend on how the run is split.
type text struct {
	not     bool // the run is not text
	lines   bool // the run has a line end or Dubbo's prompt
	line    int  // bytes since the last line end
	more    int  // missing bytes of the current character
	command int  // bytes that the current telnet command may still have
	prompt  int  // bytes of the prompt that were just read
}

// maxLine is the longest line of text, in bytes.
const maxLine = 16 << 10

const prompt = "dubbo>"

// is reports whether the run is text so far.
func (t *text) is() bool { return !t.not && t.lines && t.more == 0 }

// add judges the next bytes of the run.
func (t *text) add(b []byte) {
	for _, c := range b {
		if t.not {
			return
		}
		t.byte(c)
	}
}

func (t *text) byte(c byte) {
	if t.line++; t.line > maxLine {
		t.not = true
	}
	switch {
	case c == prompt[t.prompt]:
		if t.prompt++; t.prompt == len(prompt) {
			t.lines, t.prompt = true, 0
		}
	case c == prompt[0]:
		t.prompt = 1
	default:
		t.prompt = 0
	}
	switch {
	case t.command > 0: // RFC 854: IAC, a command, and an option after WILL, WONT, DO, DONT
		t.command--
		if c >= 0xfb && c <= 0xfe {
			t.command = 1
		}
	case t.more > 0:
		t.more--
		t.not = t.not || c&0xc0 != 0x80
	case c == '\n':
		t.lines, t.line = true, 0
	case c >= 0x20 && c < 0x7f, c == '\r', c == '\t', c == '\b', c == 0x1b, c == 0x03:
	case c >= 0xc2 && c <= 0xdf:
		t.more = 1
	case c >= 0xe0 && c <= 0xef:
		t.more = 2
	case c >= 0xf0 && c <= 0xf4:
		t.more = 3
	case c == 0xff:
		t.command = 1
	default:
		t.not = true
	}
}
