package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"dubbo-wire/internal/dev/truth/javalog"
)

// Peer is a JVM of the rig.
type Peer struct {
	*Process
	truth string // the file of its log, "" for load
	seen  int64  // bytes of it that were read
	done  int
}

// StartJava is how long a JVM may take to be ready on a machine that has much else to do.
const StartJava = 90 * time.Second

// inNamespace returns the beginning of a command line that runs in a namespace.
func inNamespace(ns string) []string { return []string{"ip", "netns", "exec", ns} }

// Java returns the command line of a peer of the bed's first release in a namespace: side is provider, consumer or load; workloads are
// the consumer's.
func (b *Bed) Java(ns, side, main, truth string, properties []string, workloads ...string) []string {
	return b.java(b.releases[0], ns, side, main, truth, properties, workloads...)
}

func (b *Bed) java(release, ns, side, main, truth string, properties []string, workloads ...string) []string {
	argv := append(inNamespace(ns), "java", "-Xmx384m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
		"@"+filepath.Join(b.rig(release), side+".args"), "-Drig.port="+Port)
	if truth != "" {
		argv = append(argv, "-Dtruth.file="+truth)
	}
	argv = append(argv, properties...)
	return append(append(argv, "org.dubbowire.rig.run."+main), workloads...)
}

// ProviderProperties returns the settings of a provider. Dubbo 3 accepts only the serializations in them.
func ProviderProperties() []string {
	p := []string{"-Drig.host=" + ProviderHost}
	if strings.HasPrefix(Release, "3.") {
		p = append(p, "-Drig.accepted=kryo,fst,fastjson")
	}
	return p
}

// StartProvider starts a provider and waits until it answers.
func (b *Bed) StartProvider() (*Peer, error) {
	return b.startPeer(b.releases[0], b.Provider, "provider", "Provider", "READY", ProviderProperties())
}

// StartConsumer starts a consumer in a namespace, which sends requests to host in each Round.
func (b *Bed) StartConsumer(ns, host string) (*Peer, error) {
	return b.startPeer(b.releases[0], ns, "consumer", "Consumer", "LISTENING", []string{"-Drig.host=" + host}, "session")
}

// startPeer starts a peer and waits until it prints a line that begins with ready.
func (b *Bed) startPeer(release, ns, side, main, ready string, properties []string, workloads ...string) (*Peer, error) {
	p, err := b.beginPeer(release, ns, side, main, properties, workloads...)
	if err == nil {
		_, err = p.WaitFor(ready, 1, StartJava)
	}
	return p, err
}

// beginPeer starts a peer.
func (b *Bed) beginPeer(release, ns, side, main string, properties []string, workloads ...string) (*Peer, error) {
	truth := filepath.Join(b.Dir, fmt.Sprintf("%s-%d.truth", side, b.count))
	p, err := b.Start(side, b.java(release, ns, side, main, truth, properties, workloads...)...)
	return &Peer{Process: p, truth: truth}, err
}

// Begin makes a consumer begin a round of traffic, such as "everything kryo,fst". Session.java has all rounds.
func (p *Peer) Begin(round string) error {
	p.done++
	_, err := io.WriteString(p.Stdin, round+"\n")
	return err
}

// Finished waits until the round has ended and its connections are closed. The error has the failed steps.
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

// Round runs a round and waits for its end, and for that of its connections: a busy machine may close them seconds later, and the next
// capture would see their last packets.
func (p *Peer) Round(round string) error {
	if err := p.Begin(round); err != nil {
		return err
	}
	if err := p.Finished(60 * time.Second); err != nil {
		return err
	}
	p.Disconnected("")
	return nil
}

// Disconnected waits for the end of the connections in the peer's namespace to a port, or of all if it is "": clients of HTTP keep theirs for some seconds.
func (p *Peer) Disconnected(port string) {
	for deadline := time.Now().Add(20 * time.Second); p.connected(port) && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
}

// connected reports whether a TCP connection in the peer's namespace, to a port or to any if that is "", is neither closed nor waits for late packets.
func (p *Peer) connected(port string) bool {
	n, _ := strconv.Atoi(port)
	suffix := fmt.Sprintf(":%04X", n)
	for _, table := range []string{"tcp", "tcp6"} {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/%s", p.Pid(), table))
		if err != nil {
			return false
		}
		for _, line := range strings.Split(string(b), "\n")[1:] {
			const listening, waiting = "0A", "06" // include/net/tcp_states.h
			if f := strings.Fields(line); len(f) > 3 && f[3] != listening && f[3] != waiting && (port == "" || strings.HasSuffix(f[2], suffix)) {
				return true
			}
		}
	}
	return false
}

// Leave shuts a peer down; a provider announces this to its consumers first.
func (p *Peer) Leave() error {
	p.Signal(syscall.SIGTERM)
	_, err := p.Wait(time.Minute)
	return err
}

// newLines calls each for every line that the peer has logged since the last call.
func newLines[T any](p *Peer, each func(*T)) error {
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
	b = b[:bytes.LastIndexByte(b, '\n')+1] // without the incomplete last line
	p.seen += int64(len(b))
	return javalog.Read(bytes.NewReader(b), each)
}
