package jvm

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	magic      = 0x44574531 // "DWE1"
	startLimit = 2 * time.Minute
	exitLimit  = 10 * time.Second // from the last byte of the output to the end
	maxText    = 64 << 10         // bytes of a text of the child
)

// process is one Java virtual machine.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File
	stderr tail

	jvm         string
	unavailable []string
	targets     int
	timeout     time.Duration
	answer      func(Result) error

	waiting atomic.Int64 // messages without an answer
	last    atomic.Int64 // time of the last progress: Unix nanoseconds
	slack   atomic.Int64 // in addition to timeout, while times are measured
	times   atomic.Int64 // how many times may come: none before the end of the messages

	mu     sync.Mutex
	err    error         // why it was killed, or what was wrong with its output
	exited chan struct{} // the program has ended
	status error         // of the program, once exited

	// over is closed when the program has ended and its output has been read. What follows is final then.
	over     chan struct{}
	complete bool // the output ended as it should
	timings  []Timing
}

// start starts the program and reads what it says of itself.
func (s *setup) start(ctx context.Context, c *Config, answer func(Result) error) (*process, error) {
	p := &process{
		cmd: exec.Command(s.java, s.arguments...), targets: len(c.Targets), timeout: c.Timeout, answer: answer, //nolint:gosec // the user's java
		exited: make(chan struct{}), over: make(chan struct{}),
	}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stderr, p.cmd.WaitDelay = s.work, environment(), &p.stderr, 2*time.Second
	p.cmd.SysProcAttr = ownGroup()
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	var output *os.File
	if p.stdout, output, err = os.Pipe(); err != nil {
		return nil, err
	}
	p.cmd.Stdout = output
	started := make(chan error)
	go func() {
		// The kernel kills the child when the thread that started it ends. This one ends after the child.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			if p.status = p.cmd.Wait(); errors.Is(p.status, exec.ErrWaitDelay) { // what it has started still writes
				p.status = nil
			}
			killGroup(p.cmd.Process)                            // what it may have started
			p.stdout.SetReadDeadline(time.Now().Add(exitLimit)) //nolint:errcheck // not supported everywhere
			close(p.exited)
		}
	}()
	err = <-started
	output.Close() //nolint:errcheck // the child's
	if err != nil {
		p.stdout.Close() //nolint:errcheck // nothing was read
		return nil, fmt.Errorf("%s: %w", s.java, err)
	}
	stop := context.AfterFunc(ctx, func() { p.fail(ctx.Err()) })
	late := time.AfterFunc(startLimit, func() { p.fail(fmt.Errorf("it did not start within %v", startLimit)) })
	r := &reader{r: bufio.NewReaderSize(p.stdout, 64<<10)}
	go func() {
		if _, err := p.stdin.Write(configuration(c, s.built)); err != nil {
			p.fail(fmt.Errorf("it does not read: %w", err))
		}
	}()
	if !p.greeting(r) {
		late.Stop()
		stop()
		if r.err != nil { // its output has ended: how it ends itself tells more
			select {
			case <-p.exited:
			case <-time.After(exitLimit):
			}
		}
		p.fail(errors.New("it wrote something else than it should"))
		<-p.exited
		close(p.over)
		return nil, fmt.Errorf("the Java process did not start: %w", p.death())
	}
	late.Stop()
	p.progress()
	go p.watch()
	go func() {
		err := p.read(r)
		if err != nil {
			p.fail(err)
		}
		select {
		case <-p.exited:
		case <-time.After(exitLimit):
			p.fail(errors.New("it did not end"))
			<-p.exited
		}
		stop()
		p.complete = err == nil
		p.stdout.Close() //nolint:errcheck // only read
		close(p.over)
	}()
	return p, nil
}

// configuration is what the child reads first.
func configuration(c *Config, built []string) []byte {
	b := binary.BigEndian.AppendUint32(nil, magic)
	texts := func(list []string) {
		b = binary.BigEndian.AppendUint32(b, uint32(len(list)))
		for _, t := range list {
			b = append(binary.BigEndian.AppendUint32(b, uint32(len(t))), t...)
		}
	}
	texts(c.Targets)
	b = binary.BigEndian.AppendUint32(b, uint32(c.TimingMillis))
	b = binary.BigEndian.AppendUint32(b, uint32(c.MaxBody))
	texts(built)
	texts(c.Registered)
	return b
}

// greeting reads what the child says of itself.
func (p *process) greeting(r *reader) bool {
	if r.int32() != magic {
		return false
	}
	p.jvm, _ = r.text()
	p.jvm = oneLine(p.jvm)
	if n := r.int32(); r.err != nil || int(n) != p.targets {
		return false
	}
	for range p.targets {
		cause, _ := r.text()
		p.unavailable = append(p.unavailable, oneLine(cause))
	}
	return r.err == nil
}

// read reads results and times, until the end of the output.
func (p *process) read(r *reader) error {
	for {
		switch tag := r.byte(); {
		case r.err != nil:
			return r.err
		case tag == 0:
			if _, err := r.r.ReadByte(); err != io.EOF {
				return errors.New("it wrote more than it should")
			}
			return nil
		case tag == 1:
			result := Result{ID: r.int64(), Targets: make([]Encoded, p.targets)}
			for i := range result.Targets {
				r.encoded(&result.Targets[i])
			}
			if r.err != nil {
				return r.err
			}
			p.waiting.Add(-1)
			p.progress()
			if err := p.answer(result); err != nil {
				return err
			}
		case tag == 2:
			t := Timing{
				Target: int(r.int32()), Group: int(r.int32()), Kind: r.byte(),
				EncodeLow: r.int64(), EncodeHigh: r.int64(), DecodeLow: r.int64(), DecodeHigh: r.int64(),
			}
			if r.err != nil {
				return r.err
			}
			if t.Target < 0 || t.Target >= p.targets || int64(len(p.timings)) >= p.times.Load() {
				return errors.New("times of what was not asked")
			}
			p.progress()
			p.timings = append(p.timings, t)
		case tag == 3: // of the last times
			cause, _ := r.text()
			if r.err != nil {
				return r.err
			}
			if len(p.timings) == 0 {
				return errors.New("a cause without times")
			}
			p.timings[len(p.timings)-1].Unreadable = oneLine(cause)
		default:
			return fmt.Errorf("it wrote something else than it should (%#x)", tag)
		}
	}
}

// send writes a record. If the child is over, or dies meanwhile, the record is lost.
func (p *process) send(record []byte) {
	if p.waiting.Add(1) == 1 {
		p.progress()
	}
	p.stdin.Write(record) //nolint:errcheck // a broken pipe: the end of its output tells more
}

// end says that no record follows. A number of times may come, for each of which the child may be silent for longer.
func (p *process) end(times int, slack time.Duration) {
	p.times.Store(int64(times))
	p.slack.Store(int64(slack))
	p.waiting.Add(1)
	p.progress()
	p.stdin.Write([]byte{0}) //nolint:errcheck // as in send
}

func (p *process) progress() { p.last.Store(time.Now().UnixNano()) }

// watch kills a process that does not answer.
func (p *process) watch() {
	ticks := time.NewTicker(min(p.timeout/4, time.Second))
	defer ticks.Stop()
	for {
		select {
		case <-p.over:
			return
		case now := <-ticks.C:
			limit := p.timeout + time.Duration(p.slack.Load())
			if p.waiting.Load() > 0 && now.UnixNano()-p.last.Load() > int64(limit) {
				p.fail(hangError(limit))
				return
			}
		}
	}
}

// fail kills the process because of an error; the first one counts.
func (p *process) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.exited:
		return
	default:
	}
	if p.err == nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		p.err = err
	}
	if p.err != nil {
		killGroup(p.cmd.Process)
	}
}

// hangError is how long a process did not answer.
type hangError time.Duration

func (e hangError) Error() string {
	return fmt.Sprintf("it did not answer within %v", time.Duration(e))
}

func (p *process) isOver() bool {
	select {
	case <-p.over:
		return true
	default:
		return false
	}
}

// death returns why a process that has ended did not do its work.
func (p *process) death() error {
	<-p.exited
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	cause := p.status
	if cause == nil {
		cause = errors.New("exit status 0")
	}
	if line := p.stderr.lastLine(); line != "" {
		return fmt.Errorf("%w: %s", cause, line)
	}
	return cause
}

// reader reads the child's output. After an error it returns zeros.
type reader struct {
	r   *bufio.Reader
	buf [8]byte
	err error
}

func (r *reader) bytes(n int) []byte {
	if r.err == nil {
		_, r.err = io.ReadFull(r.r, r.buf[:n])
	}
	if r.err != nil {
		r.buf = [8]byte{}
	}
	return r.buf[:n]
}

func (r *reader) byte() byte   { return r.bytes(1)[0] }
func (r *reader) int32() int32 { return int32(binary.BigEndian.Uint32(r.bytes(4))) }
func (r *reader) int64() int64 { return int64(binary.BigEndian.Uint64(r.bytes(8))) }

// text reads a text; ok is false for null.
func (r *reader) text() (text string, ok bool) {
	n := r.int32()
	switch {
	case r.err != nil || n == -1:
		return "", false
	case n < 0 || n > maxText:
		r.err = fmt.Errorf("it wrote a text of %d bytes", n)
		return "", false
	}
	b := make([]byte, n)
	if _, r.err = io.ReadFull(r.r, b); r.err != nil {
		return "", false
	}
	return strings.ToValidUTF8(string(b), "\ufffd"), true
}

func (r *reader) encoded(e *Encoded) {
	switch state := r.byte(); {
	case r.err != nil:
	case state == 0:
		n := r.int32()
		if n < 0 {
			r.err = fmt.Errorf("it wrote a body of %d bytes", n)
		}
		e.Bytes = int(n)
		copy(e.Hash[:], r.bytes(8))
	case state == 1:
		cause, _ := r.text()
		if e.Cause = oneLine(cause); strings.TrimSpace(e.Cause) == "" {
			e.Cause = "unknown"
		}
	default:
		r.err = fmt.Errorf("it wrote something else than it should (state %d)", state)
	}
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const maxTail = 8 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b[max(0, len(b)-maxTail):]...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return len(b), nil
}

// logLine matches what loggers write of events other than errors.
var logLine = regexp.MustCompile(`^(?:\[?(?:TRACE|DEBUG|INFO|WARN)\b|[A-Z][a-z]{2} \d+, \d{4} )`)

// lastLine returns the last line that says something of an error; of others the last one, but no warnings.
func (t *tail) lastLine() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last, isError := "", false
	for line := range strings.Lines(strings.ToValidUTF8(string(t.kept), "")) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "dubbo-wire estimate: "); ok { // what the helper says at its end
			last, isError = rest, true
			continue
		}
		says := strings.Contains(line, "Error") || strings.Contains(line, "Exception")
		if line == "" || isError && !says || !says && logLine.MatchString(line) || strings.HasPrefix(line, "at ") || strings.HasPrefix(line, "... ") || strings.HasPrefix(line, "SLF4J:") ||
			strings.HasPrefix(line, "log4j:") || strings.HasPrefix(line, "WARNING:") {
			continue
		}
		last, isError = line, says
	}
	return oneLine(last)
}
