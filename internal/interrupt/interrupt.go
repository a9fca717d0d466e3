// Package interrupt turns the signals that end a program into the end of its input. The first SIGINT, SIGTERM or SIGHUP ends
// reading, so that the program can print what it has read. The second one ends the program, after a cleanup. Readers that wait
// for input end too: Reader reads ahead in a goroutine. Its bytes belong to the caller; the buffers are its own.
package interrupt

import (
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"dubbo-wire/internal/exit"
)

// Signals waits for SIGINT, SIGTERM and SIGHUP.
type Signals struct {
	stopped atomic.Bool
	done    chan struct{} // closed with the first signal
	signals chan os.Signal
	cleanup func()
	ignored bool // SIGINT was before, as a shell does for what it starts in the background of a script
}

// Catch begins to wait for signals until Release. cleanup runs before the second signal ends the program.
func Catch(cleanup func()) *Signals {
	i := &Signals{cleanup: cleanup, done: make(chan struct{}), signals: make(chan os.Signal, 1), ignored: signal.Ignored(os.Interrupt)}
	signal.Notify(i.signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(i.signals, syscall.SIGHUP)
	}
	go i.wait()
	return i
}

// Burst is the time in which several signals count as one: when a terminal closes, the kernel and the shell both send SIGHUP.
const Burst = time.Second

func (i *Signals) wait() {
	if _, ok := <-i.signals; !ok {
		return
	}
	i.stopped.Store(true)
	close(i.done)
	first := time.Now()
	for sig := range i.signals {
		if sig == os.Interrupt || time.Since(first) > Burst {
			i.endNow(sig)
		}
	}
}

// endNow cleans up and ends the program, as the signal would have if it is SIGINT and was not ignored.
func (i *Signals) endNow(sig os.Signal) {
	i.cleanup()
	signal.Reset(sig)
	if self, err := os.FindProcess(os.Getpid()); err == nil && sig == os.Interrupt && !i.ignored && self.Signal(sig) == nil {
		time.Sleep(time.Second) // until the signal arrives
	}
	os.Exit(exit.Partly)
}

// Stopped reports whether a signal has come.
func (i *Signals) Stopped() bool { return i.stopped.Load() }

// Release stops waiting for signals.
func (i *Signals) Release() {
	signal.Stop(i.signals)
	close(i.signals)
}

// Reader returns a reader of r that ends at the first signal, even while r blocks.
func (i *Signals) Reader(r io.Reader) io.Reader {
	return &interruptible{r: r, done: i.done}
}

// interruptible reads ahead in a goroutine, which the first Read starts.
type interruptible struct {
	r     io.Reader
	done  <-chan struct{}
	full  chan []byte
	empty chan []byte
	now   []byte // the part of whole that was not read yet
	whole []byte
	err   error // returned at the end
	cause error // set by pump before it closes full
}

func (p *interruptible) Read(b []byte) (int, error) {
	if p.full == nil {
		p.full, p.empty = make(chan []byte, 2), make(chan []byte, 2)
		p.empty <- make([]byte, 1<<16)
		p.empty <- make([]byte, 1<<16)
		go p.pump()
	}
	for len(p.now) == 0 {
		if p.whole != nil {
			p.empty <- p.whole[:cap(p.whole)]
			p.whole = nil
		}
		next, ok := p.next()
		if !ok && p.err == nil {
			p.err = p.cause
		}
		if !ok {
			return 0, p.err
		}
		p.whole, p.now = next, next
	}
	n := copy(b, p.now)
	p.now = p.now[n:]
	return n, nil
}

// next waits for the next piece. Pieces that have arrived are returned before the end.
func (p *interruptible) next() (piece []byte, ok bool) {
	select {
	case piece, ok = <-p.full:
		return piece, ok
	default:
	}
	select {
	case piece, ok = <-p.full:
		return piece, ok
	case <-p.done:
		p.err = io.EOF
		return nil, false
	}
}

func (p *interruptible) pump() {
	for buf := range p.empty {
		n, err := p.r.Read(buf)
		if n > 0 {
			p.full <- buf[:n]
		} else if err == nil {
			p.empty <- buf
		}
		if err != nil {
			p.cause = err
			close(p.full)
			return
		}
	}
}
