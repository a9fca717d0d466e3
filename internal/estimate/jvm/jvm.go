// Package jvm runs the Java side of an estimate: it compiles the helper once, starts a Java virtual machine with the classes of Dubbo and of the
// user, sends it records of messages, and hands back what each weighs in each target.
//
// Captures are hostile, and classes of the user run in the child: its memory, its output and its time are bounded, it dies with this process, and a
// message at which it dies or hangs is left out.
package jvm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"dubbo-wire/internal/decode/protoschema"
	"dubbo-wire/internal/estimate/helper"
)

// Config says what to start, and what it shall do.
type Config struct {
	// Source has the Java files of the helper, one of them with a main method; nil for those of package helper.
	Source fs.FS
	// Java is a program or the home of a JDK; empty for java of PATH.
	Java string
	// Cache is the folder for compiled classes; empty for the user's.
	Cache string
	// ClassPath are the jars of a release of Dubbo, UserPath the jars, wars and folders with the user's classes: only these are built from values.
	ClassPath, UserPath []string
	// Registered are the classes that the serializers register, in order; empty for the unregistered variant.
	Registered []string
	// Schemas are those of messages of protocol buffers that have no classes, nil without any.
	Schemas *protoschema.Generated
	// Targets are what bodies are written in: "kryo", "triple/hessian2".
	Targets []string
	// TimingMillis is about how long the times of all targets are measured; 0 measures none. MaxBody is the largest body in bytes; 0 is 64 MiB.
	TimingMillis, MaxBody int
	// Timeout is how long the child may take for one message; 0 is 30 s.
	Timeout time.Duration
	// HeapMiB bounds the memory for objects; 0 is 1,024.
	HeapMiB int
}

// Result is what one message weighs in each target.
type Result struct {
	ID      int64
	Targets []Encoded
}

// Encoded is the body of a message in a target, or why there is none.
type Encoded struct {
	Bytes int     // of the body
	Hash  [8]byte // the first bytes of the body's SHA-256
	Cause string  // empty: encoded
}

// Timing is the thread CPU time of one message of a target and a group, in nanoseconds; -1 is unknown. Low is the lowest tenth of the rounds, high
// their median.
type Timing struct {
	Target, Group         int
	Kind                  byte // 1 request, 2 response
	EncodeLow, EncodeHigh int64
	DecodeLow, DecodeHigh int64
	Unreadable            string // why the bodies cannot be decoded again; empty: they can
}

const (
	maxPendingBytes = 16 << 20 // of records that are not answered yet
	maxPending      = 2048     // records that are not answered yet
	maxDeaths       = 10       // of children; then no other is started
	slow            = 2 * time.Second
	maxSlow         = 8 // timeouts for all slow messages together
	maxRecord       = 256 << 20
	headerSize      = 1 + 8 + 4 // kind, id, group
)

// Child is a Java virtual machine that writes bodies. When it dies, another one goes on without the message that it died at. Its methods are for one
// goroutine.
type Child struct {
	ctx    context.Context
	config Config
	result func(Result)
	setup  *setup

	process     *process
	jvm         string
	unavailable []string

	mu      sync.Mutex
	answer  sync.Cond // an answer has come, or the process has died
	pending [][]byte  // records that are not answered
	bytes   int       // of pending
	kinds   map[groupKind]bool
	deaths  int
	deadly  map[groupKind]*deadly
	slow    time.Duration // what slow messages took
	last    time.Time     // of the last answer or record
	err     error         // nothing can be sent any more
}

type groupKind struct {
	group int32
	kind  byte
}

// deadly are messages of a group at which processes have died.
type deadly struct {
	points int
	cause  error
}

// No message of a group is sent any more after so many points: a process that hangs costs much time, one that dies less.
const (
	tooDeadly   = 3
	hangPoints  = 2
	deathPoints = 1
)

// Start starts a child. It calls result for each message in the order in which they are sent, one call at a time; result must not call methods of
// the child.
func Start(ctx context.Context, config Config, result func(Result)) (*Child, error) {
	if config.Timeout <= 0 {
		config.Timeout = 30 * time.Second
	}
	if config.HeapMiB <= 0 {
		config.HeapMiB = 1024
	}
	if config.MaxBody <= 0 {
		config.MaxBody = 64 << 20
	}
	if config.Source == nil {
		config.Source = helper.Source
	}
	s, err := prepare(ctx, &config)
	if err != nil {
		return nil, err
	}
	c := &Child{ctx: ctx, config: config, result: result, setup: s, kinds: map[groupKind]bool{}, deadly: map[groupKind]*deadly{}}
	c.answer.L = &c.mu
	if err := c.start(); err != nil {
		return nil, errors.Join(err, s.remove())
	}
	c.jvm, c.unavailable = c.process.jvm, c.process.unavailable
	return c, nil
}

// JVM returns the version and the name of the Java virtual machine: "17.0.15 OpenJDK 64-Bit Server VM".
func (c *Child) JVM() string { return c.jvm }

// Unavailable returns for each target why it cannot be used, "" for those that can.
func (c *Child) Unavailable() []string { return c.unavailable }

// Deaths returns how many virtual machines have died.
func (c *Child) Deaths() int { return c.deaths }

// start starts a process.
func (c *Child) start() error {
	p, err := c.setup.start(c.ctx, &c.config, c.answered)
	if err != nil {
		return err
	}
	c.process = p
	go func() {
		<-p.over
		c.mu.Lock()
		c.answer.Broadcast()
		c.mu.Unlock()
	}()
	return nil
}

// answered takes a result of the process.
func (c *Child) answered(r Result) error {
	c.mu.Lock()
	if len(c.pending) == 0 || recordID(c.pending[0]) != r.ID {
		c.mu.Unlock()
		return fmt.Errorf("an answer to message %d, which was not asked", r.ID)
	}
	now := time.Now()
	if took := now.Sub(c.last); took > slow {
		c.slow += took
	}
	c.last = now
	tooSlow := c.slow > maxSlow*c.config.Timeout
	c.mu.Unlock()
	// The message is pending as long as its result is on the way: who waits for that may pass on the result of the next message.
	c.result(r)
	c.mu.Lock()
	c.drop()
	c.mu.Unlock()
	if tooSlow {
		return errSlow
	}
	return nil
}

// drop takes the first of the pending records away.
func (c *Child) drop() {
	c.bytes -= len(c.pending[0])
	c.pending[0] = nil
	c.pending = c.pending[1:]
	c.answer.Broadcast()
}

// Send sends the record of a message, which stays the child's. It waits while many are not answered yet. An error is final.
func (c *Child) Send(record []byte) error {
	if len(record) < headerSize || len(record) > maxRecord {
		return fmt.Errorf("a record of %d bytes", len(record))
	}
	key := kindOf(record)
	if cause := c.skips(key); cause != nil {
		if !c.settle() || c.process.isOver() {
			if err := c.recover(); err != nil {
				return err
			}
		}
		c.result(*c.failed(record, cause))
		return c.err
	}
	c.mu.Lock()
	for len(c.pending) > 0 && (len(c.pending) >= maxPending || c.bytes+len(record) > maxPendingBytes) && !c.process.isOver() {
		c.answer.Wait()
	}
	if len(c.pending) == 0 {
		c.last = time.Now()
	}
	c.pending = append(c.pending, record)
	c.bytes += len(record)
	c.kinds[key] = true
	c.mu.Unlock()
	c.process.send(record)
	if c.process.isOver() {
		return c.recover()
	}
	return c.err
}

// settle waits until nothing is pending, or the process is over.
func (c *Child) settle() (settled bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) > 0 && !c.process.isOver() {
		c.answer.Wait()
	}
	return len(c.pending) == 0
}

// recover starts other processes until all that is pending has been answered. Records are sent one by one, so that the one at which a process dies
// is known.
func (c *Child) recover() error {
	alone := false // the process had only the first of the pending records
	for c.err == nil {
		if c.settle() && !c.process.isOver() {
			return nil
		}
		if !c.process.isOver() {
			continue
		}
		<-c.process.over
		cause := c.process.death()
		if err := c.ctx.Err(); err != nil {
			c.err = err
			break
		}
		if errors.Is(cause, errSlow) {
			c.deaths++
			c.err = fmt.Errorf("messages that took more than %v each took more than %v together", slow, maxSlow*c.config.Timeout)
			break
		}
		c.mu.Lock()
		var failed *Result
		if alone && len(c.pending) > 0 {
			failed = c.failed(c.pending[0], cause)
			c.count(kindOf(c.pending[0]), cause)
			c.drop()
		}
		todo := c.pending
		c.mu.Unlock()
		if failed != nil {
			c.result(*failed)
		}
		if c.deaths++; c.deaths > maxDeaths {
			c.err = fmt.Errorf("the Java process died %d times; the last time: %w", c.deaths, cause)
			break
		}
		if err := c.start(); err != nil {
			c.err = err
			break
		}
		alone = false
		for _, record := range todo {
			if cause := c.skips(kindOf(record)); cause != nil {
				c.mu.Lock()
				c.drop()
				c.mu.Unlock()
				c.result(*c.failed(record, cause))
				continue
			}
			alone = true
			c.mu.Lock()
			c.last = time.Now()
			c.mu.Unlock()
			c.process.send(record)
			if !c.answeredTo(record) {
				break
			}
		}
	}
	return c.err
}

// answeredTo waits for the answer to the first of the pending records, false if the process is over.
func (c *Child) answeredTo(record []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.pending) > 0 && &c.pending[0][0] == &record[0] {
		if c.process.isOver() {
			return false
		}
		c.answer.Wait()
	}
	return true
}

// errSlow ends a child at whose messages too much time was lost.
var errSlow = errors.New("slow messages")

// skips returns why messages of a group are not sent any more, nil if they are.
func (c *Child) skips(key groupKind) error {
	if d := c.deadly[key]; d != nil && d.points >= tooDeadly {
		return d.cause
	}
	return nil
}

// count counts a death at a message of a group.
func (c *Child) count(key groupKind, cause error) {
	d := c.deadly[key]
	if d == nil {
		d = &deadly{cause: cause}
		c.deadly[key] = d
	}
	if d.points += deathPoints; errors.As(cause, new(hangError)) {
		d.points += hangPoints - deathPoints
	}
}

// failed is the result of a message at which a process has died, or would.
func (c *Child) failed(record []byte, cause error) *Result {
	r := &Result{ID: recordID(record), Targets: make([]Encoded, len(c.config.Targets))}
	for i := range r.Targets {
		r.Targets[i].Cause = oneLine("the Java process died: " + cause.Error())
	}
	return r
}

// Finish waits for the answers to all messages, and for the times if they are measured. The child ends. If a child has died, times are those of the
// messages after it.
func (c *Child) Finish() ([]Timing, error) {
	defer c.Close() //nolint:errcheck // the child is over
	for {
		if c.err != nil {
			return nil, c.err
		}
		times, slack := 0, time.Duration(0)
		if c.config.TimingMillis > 0 {
			times = len(c.config.Targets) * len(c.kinds)
			slack = 10 * time.Duration(c.config.TimingMillis) * time.Millisecond
		}
		c.process.end(times, slack)
		<-c.process.over
		c.mu.Lock()
		left := len(c.pending)
		c.mu.Unlock()
		if left == 0 {
			break
		}
		if err := c.recover(); err != nil {
			return nil, err
		}
	}
	if !c.process.complete && c.config.TimingMillis > 0 {
		if err := c.ctx.Err(); err != nil {
			return c.process.timings, err
		}
		return c.process.timings, fmt.Errorf("the Java process died while it measured times: %w", c.process.death())
	}
	return c.process.timings, nil
}

// Close ends the child at once, if it still runs, and removes its files.
func (c *Child) Close() error {
	c.process.fail(errors.New("closed"))
	<-c.process.over
	if c.err == nil {
		c.err = errors.New("the Java process has ended")
	}
	return c.setup.remove()
}

func kindOf(record []byte) groupKind {
	return groupKind{int32(binary.BigEndian.Uint32(record[9:])), record[0]}
}

func recordID(record []byte) int64 { return int64(binary.BigEndian.Uint64(record[1:])) }

// oneLine returns a cause as one line, without control characters, of bounded length.
func oneLine(text string) string {
	const most = 300
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffd {
			return ' '
		}
		return r
	}, text)
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i]
		}
	}
	return text
}
