package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"dubbo-wire/internal/dev/truth/javalog"
)

// Peer is a JVM of the rig.
type Peer struct {
	*Process
	truth string // the file of its log, "" for load
	seen  int64  // how much of it was read
	done  int
}

// StartJava is how long a JVM may take to be ready on a machine that has much else to do.
const StartJava = 90 * time.Second

// inNamespace is what stands in front of a command line to have it run there.
func inNamespace(ns string) []string { return []string{"ip", "netns", "exec", ns} }

// Java is the command line of a peer in a namespace: side is provider, consumer or load; workloads are the consumer's.
func (b *Bed) Java(ns, side, main, truth string, properties []string, workloads ...string) []string {
	argv := append(inNamespace(ns), "java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
		"@"+filepath.Join(b.Dir, "rig", side+".args"), "-Drig.port="+Port)
	if truth != "" {
		argv = append(argv, "-Dtruth.file="+truth)
	}
	argv = append(argv, properties...)
	return append(append(argv, "org.dubbowire.rig.run."+main), workloads...)
}

// ProviderProperties are a provider's settings. Dubbo 3 takes only the serializations that it is told of.
func ProviderProperties() []string {
	p := []string{"-Drig.host=" + ProviderHost}
	if strings.HasPrefix(Release, "3.") {
		p = append(p, "-Drig.accepted=kryo,fst,fastjson")
	}
	return p
}

// StartProvider starts the one that answers, and waits until it does.
func (b *Bed) StartProvider() (*Peer, error) {
	truth := filepath.Join(b.Dir, fmt.Sprintf("provider-%d.truth", b.count))
	p, err := b.Start("provider", b.Java(b.Provider, "provider", "Provider", truth, ProviderProperties())...)
	if err != nil {
		return nil, err
	}
	_, err = p.WaitFor("READY", 1, StartJava)
	return &Peer{Process: p, truth: truth}, err
}

// StartConsumer starts one that asks host from a namespace when it is told to by Round.
func (b *Bed) StartConsumer(ns, host string) (*Peer, error) {
	truth := filepath.Join(b.Dir, fmt.Sprintf("consumer-%d.truth", b.count))
	p, err := b.Start("consumer", b.Java(ns, "consumer", "Consumer", truth, []string{"-Drig.host=" + host}, "session")...)
	if err != nil {
		return nil, err
	}
	_, err = p.WaitFor("LISTENING", 1, StartJava)
	return &Peer{Process: p, truth: truth}, err
}

// Begin has a consumer begin a round of traffic, "everything kryo,fst" (Session.java says what there is).
func (p *Peer) Begin(round string) error {
	p.done++
	_, err := io.WriteString(p.Stdin, round+"\n")
	return err
}

// Finished waits for the end of the round, when its connections are closed. Which of its steps failed is in the error.
func (p *Peer) Finished(limit time.Duration) error {
	if _, err := p.WaitFor("DONE", p.done, limit); err != nil {
		return err
	}
	var failed []string
	for line := range strings.Lines(p.Stdout()) {
		if strings.HasPrefix(line, "FAILED") || strings.HasPrefix(line, "NOT FAILED") {
			failed = append(failed, strings.TrimSpace(line))
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("%s: %s", p.Name, strings.Join(failed, "; "))
	}
	return nil
}

// Round is a round from begin to end.
func (p *Peer) Round(round string) error {
	if err := p.Begin(round); err != nil {
		return err
	}
	return p.Finished(60 * time.Second)
}

// Leave ends a peer in order: a provider says farewell first.
func (p *Peer) Leave() error {
	p.Signal(syscall.SIGTERM)
	_, err := p.Wait(20 * time.Second)
	return err
}

// logged reads what a peer has sent since the last time.
func (p *Peer) logged(each func(*javalog.Frame)) error {
	f, err := os.Open(p.truth)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Seek(p.seen, io.SeekStart); err != nil {
		return err
	}
	b, err := io.ReadAll(bufio.NewReader(f))
	if err != nil {
		return err
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1] // the line that is being written is the next one's
	p.seen += int64(len(b))
	return javalog.Read(bytes.NewReader(b), each)
}
