package e2e

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Process is a program that runs during the tests. Its output is in the files Out and Err.
type Process struct {
	Name     string
	Out, Err string
	Stdin    io.WriteCloser
	cmd      *exec.Cmd
	ended    chan struct{}
	err      error // of the wait, once ended is closed
	once     sync.Once
}

// Start runs a program whose output goes to NAME.out and NAME.err in the bed's folder. It dies with this process.
func (b *Bed) Start(name string, argv ...string) (*Process, error) {
	b.count++
	base := fmt.Sprintf("%s/%02d-%s", b.Dir, b.count, name)
	p := &Process{Name: name, Out: base + ".out", Err: base + ".err", ended: make(chan struct{})}
	out, err := os.Create(p.Out)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	stderr, err := os.Create(p.Err)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = out, stderr
	p.cmd.SysProcAttr = killWithParent()
	if p.Stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	b.processes = append(b.processes, p)
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// StartUntil starts a program and waits until it prints a line that begins with ready.
func (b *Bed) StartUntil(ready string, limit time.Duration, name string, argv ...string) (*Process, error) {
	p, err := b.Start(name, argv...)
	if err == nil {
		_, err = p.WaitFor(ready, 1, limit)
	}
	return p, err
}

// Pid returns the id of the process. `ip netns exec` replaces itself by the program, so it is the program's id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// asleep reports whether all threads of the process wait.
func (p *Process) asleep() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.Pid()))
	for _, file := range threads {
		stat := contents(file) // "" for a thread that has ended
		if i := strings.LastIndex(stat, ") "); i >= 0 && !strings.Contains("SIZX", stat[i+2:i+3]) {
			return false
		}
	}
	return true
}

// Ended reports whether the process has ended.
func (p *Process) Ended() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// Signal sends a signal to a process that may have ended.
func (p *Process) Signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// Wait waits for the end and returns the exit code, -1 if a signal ended the process.
func (p *Process) Wait(limit time.Duration) (int, error) {
	select {
	case <-p.ended:
	case <-time.After(limit):
		return 0, fmt.Errorf("%s still runs after %v:\n%s", p.Name, limit, p.tail())
	}
	if _, ok := errors.AsType[*exec.ExitError](p.err); p.err != nil && !ok {
		return 0, p.err
	}
	return p.cmd.ProcessState.ExitCode(), nil
}

// Kill ends the process at once.
func (p *Process) Kill() {
	p.once.Do(func() { _ = p.Stdin.Close() })
	if !p.Ended() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
}

// WaitFor waits until the outputs of the process have a number of lines that begin with start, and returns the last one.
func (p *Process) WaitFor(start string, times int, limit time.Duration) (string, error) {
	deadline := time.Now().Add(limit)
	for {
		ended := p.Ended() // before the files are read, so that they are complete
		found, last := 0, ""
		for _, file := range []string{p.Out, p.Err} {
			for line := range strings.Lines(contents(file)) {
				if strings.HasPrefix(line, start) && strings.HasSuffix(line, "\n") {
					found, last = found+1, strings.TrimSpace(line)
				}
			}
		}
		switch {
		case found >= times:
			return last, nil
		case ended:
			return "", fmt.Errorf("%s ended before it said %q:\n%s", p.Name, start, p.tail())
		case time.Now().After(deadline):
			return "", fmt.Errorf("%s did not say %q within %v:\n%s", p.Name, start, limit, p.tail())
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// Stderr returns the standard error of the process so far.
func (p *Process) Stderr() string { return contents(p.Err) }

// Stdout returns the standard output of the process so far.
func (p *Process) Stdout() string { return contents(p.Out) }

func (p *Process) tail() string {
	all := p.Stdout() + p.Stderr()
	return all[max(0, len(all)-2000):]
}

// contents returns the text of a file, "" if there is none.
func contents(file string) string {
	b, _ := os.ReadFile(file)
	return string(b)
}
