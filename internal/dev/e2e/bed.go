package e2e

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Release is the Dubbo release of the peers; E2E_DUBBO sets another one, such as 3.2.16. Since 2.7.9 a provider answers in
// the serialization of the request, so one provider is enough for all serializations.
var Release = cmp.Or(os.Getenv("E2E_DUBBO"), "2.7.23")

// Addresses of the two hosts.
const (
	ConsumerHost = "198.18.0.1"
	ProviderHost = "198.18.0.2"
	Port         = "20880"
)

// Interfaces that join the two hosts.
const (
	ConsumerLink = "wire-a" // in the consumer's namespace
	ProviderLink = "wire-b" // in the provider's
)

// Bed holds two hosts (namespaces) with a link between them, a folder, and all processes that run there.
type Bed struct {
	Dir    string // writable by all users
	Binary string // dubbo-wire
	// Consumer, Provider and Relay are namespaces; Relay stands between the others only after Relayed.
	Consumer, Provider, Relay string
	releases                  []string // of Dubbo, or grpc-java-VERSION; the rig of each is built
	processes                 []*Process
	relay                     *Process
	count                     int
}

// Missing returns the permission or tool that this machine lacks for a Bed, "" if nothing is missing.
func Missing(tools ...string) string {
	if runtime.GOOS != "linux" {
		return "network namespaces are Linux's"
	}
	if os.Geteuid() != 0 {
		return "not root: CAP_NET_ADMIN and CAP_SYS_ADMIN are needed for network namespaces"
	}
	for _, tool := range append([]string{"bash", "ip", "java", "mvn", "flock"}, tools...) {
		if _, err := exec.LookPath(tool); err != nil {
			return "no program " + tool
		}
	}
	name := namespace("try")
	defer func() { _, _ = run("ip", "netns", "delete", name) }()
	if _, err := run("ip", "netns", "add", name); err != nil {
		return "no right to make network namespaces: " + err.Error()
	}
	if _, err := run("ip", "-n", name, "link", "add", "v0", "type", "veth", "peer", "name", "v1"); err != nil {
		return "no veth devices: " + err.Error()
	}
	return ""
}

// namespace returns the name of a namespace of this process.
func namespace(role string) string { return fmt.Sprintf("dw-e2e-%d-%s", os.Getpid(), role) }

// namespaceName matches the names that namespace returns.
var namespaceName = regexp.MustCompile(`(?m)^dw-e2e-(\d+)-\w+`)

// removeStale removes the namespaces of processes that have ended.
func removeStale() {
	list, err := run("ip", "netns", "list")
	if err != nil {
		return
	}
	for _, m := range namespaceName.FindAllStringSubmatch(list, -1) {
		if _, err := os.Stat("/proc/" + m[1]); os.IsNotExist(err) {
			_, _ = run("ip", "netns", "delete", m[0])
		}
	}
}

// NewBed creates the namespaces, builds the peers of some releases and, if binary is "", dubbo-wire.
func NewBed(dir, binary string, releases ...string) (*Bed, error) {
	b := &Bed{Dir: dir, Binary: binary, releases: releases, Consumer: namespace("a"), Provider: namespace("b"), Relay: namespace("r")}
	if err := b.make(); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// noJars matches the messages of Maven when it cannot fetch its files.
var noJars = regexp.MustCompile(`(?m)^.*(Could not transfer|Could not resolve|Cannot access|could not be resolved|Unknown host).*$`)

// NoJars is the error of a NewBed for which Maven could not fetch the rig's jars.
type NoJars struct{ Line string }

func (e *NoJars) Error() string { return "Maven cannot fetch the rig's jars: " + e.Line }

func (b *Bed) make() error {
	if err := os.Chmod(b.Dir, 0o777); err != nil { // unprivileged users write here, too
		return err
	}
	removeStale()
	for _, ns := range []string{b.Consumer, b.Provider, b.Relay} {
		if err := b.commands("ip netns add "+ns, "ip -n "+ns+" link set lo up"); err != nil {
			return err
		}
	}
	if err := b.Join(); err != nil {
		return err
	}
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	if b.Binary == "" {
		b.Binary = filepath.Join(b.Dir, "dubbo-wire")
		cmd := exec.Command("go", "build", "-trimpath", "-o", b.Binary, "./cmd/dubbo-wire")
		cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("building dubbo-wire: %w\n%s", err, out)
		}
	}
	// A fresh machine compiles the rig and fetches Dubbo first.
	limit := time.Duration(len(b.releases)) * 8 * time.Minute
	if _, err = runFor(limit, append([]string{filepath.Join(root, "testdata/rig/live.sh"), b.Dir}, b.releases...)...); err != nil {
		if line := noJars.FindString(err.Error()); line != "" {
			return &NoJars{strings.TrimSpace(line)}
		}
		return err
	}
	return nil
}

// rig returns the folder with the peers of a release.
func (b *Bed) rig(release string) string { return filepath.Join(b.Dir, release) }

// moduleRoot returns the folder of go.mod.
func moduleRoot() (string, error) {
	file, err := run("go", "env", "GOMOD")
	return filepath.Dir(strings.TrimSpace(file)), err
}

// Close ends all processes and removes the namespaces.
func (b *Bed) Close() {
	for _, p := range b.processes {
		p.Kill()
	}
	for _, ns := range []string{b.Consumer, b.Provider, b.Relay} {
		_, _ = run("ip", "netns", "delete", ns)
	}
}

// Join links the hosts directly by a veth pair. Kernels pass segments of up to 64 KiB on it, without checksums.
func (b *Bed) Join() error {
	return b.commands(
		"ip -n "+b.Consumer+" link add "+ConsumerLink+" type veth peer name "+ProviderLink+" netns "+b.Provider,
		"ip -n "+b.Consumer+" addr add "+ConsumerHost+"/24 dev "+ConsumerLink,
		"ip -n "+b.Provider+" addr add "+ProviderHost+"/24 dev "+ProviderLink,
		"ip -n "+b.Consumer+" link set "+ConsumerLink+" addrgenmode none up", // no chatter of IPv6
		"ip -n "+b.Provider+" link set "+ProviderLink+" addrgenmode none up",
	)
}

// Cut removes the link, also a relayed one. Both hosts lose their interface and its address.
func (b *Bed) Cut() error {
	if b.relay != nil {
		b.relay.Kill()
		b.relay = nil
		return b.commands(
			"ip -n "+b.Relay+" link delete relay-a",
			"ip -n "+b.Relay+" link delete relay-b",
			"ip -n "+b.Relay+" link delete mirror-in",
		)
	}
	return b.commands("ip -n " + b.Consumer + " link delete " + ConsumerLink)
}

// MirrorLink is the interface in the relay's namespace that receives copies of the packets that the relay forwards.
const MirrorLink = "mirror-out"

// Relayed links the hosts by a relay that loses, reorders and repeats packets: testdata/rig/wire.py. Packets have at most
// 1500 bytes, and checksums, as on a network.
func (b *Bed) Relayed(bad Badly) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	in := "ip netns exec "
	plain := " tso off gso off gro off tx off"
	if err := b.commands(
		"ip -n "+b.Relay+" link add relay-a type veth peer name "+ConsumerLink+" netns "+b.Consumer,
		"ip -n "+b.Relay+" link add relay-b type veth peer name "+ProviderLink+" netns "+b.Provider,
		"ip -n "+b.Relay+" link add mirror-in type veth peer name "+MirrorLink,
		in+b.Relay+" ethtool -K relay-a"+plain,
		in+b.Relay+" ethtool -K relay-b"+plain,
		in+b.Consumer+" ethtool -K "+ConsumerLink+plain,
		in+b.Provider+" ethtool -K "+ProviderLink+plain,
		"ip -n "+b.Relay+" link set relay-a up",
		"ip -n "+b.Relay+" link set relay-b up",
		"ip -n "+b.Relay+" link set mirror-in up",
		"ip -n "+b.Relay+" link set "+MirrorLink+" up",
		"ip -n "+b.Consumer+" addr add "+ConsumerHost+"/24 dev "+ConsumerLink,
		"ip -n "+b.Provider+" addr add "+ProviderHost+"/24 dev "+ProviderLink,
		"ip -n "+b.Consumer+" link set "+ConsumerLink+" addrgenmode none up", // no chatter of IPv6
		"ip -n "+b.Provider+" link set "+ProviderLink+" addrgenmode none up",
	); err != nil {
		return err
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
	b.relay, err = b.StartUntil("wire ready", time.Minute, "relay", "ip", "netns", "exec", b.Relay, "python3", filepath.Join(root, "testdata/rig/wire.py"), "relay-a", "relay-b",
		number(bad.Lost), number(bad.Overtaken), number(bad.Repeated), "mirror-in", number(bad.NotMirrored))
	return err
}

// Badly has the probabilities of what a relay does to packets with payload.
type Badly struct {
	Lost, Overtaken, Repeated float64
	// NotMirrored is the probability that a packet is forwarded and not copied.
	NotMirrored float64
}

// Link sets an interface of a namespace up or down.
func (b *Bed) Link(ns, iface, state string) error {
	return b.commands("ip -n " + ns + " link set " + iface + " " + state)
}

func (b *Bed) commands(lines ...string) error {
	for _, line := range lines {
		if _, err := run(strings.Fields(line)...); err != nil {
			return err
		}
	}
	return nil
}

// run runs a program for at most 30 seconds and returns its output.
func run(argv ...string) (string, error) { return runFor(30*time.Second, argv...) }

func runFor(limit time.Duration, argv ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w: %s%s", strings.Join(argv, " "), err, out.String(), stderr.String())
	}
	return out.String(), nil
}

// Counters returns the packets and bytes that an interface has received and sent.
func (b *Bed) Counters(ns, iface string) (packets, bytes int64, err error) {
	out, err := run("ip", "netns", "exec", ns, "cat", "/proc/net/dev")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(out) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":")
		f := strings.Fields(rest)
		if !ok || name != iface || len(f) < 10 {
			continue
		}
		for i, to := range map[int]*int64{0: &bytes, 1: &packets, 8: &bytes, 9: &packets} {
			n, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				return 0, 0, err
			}
			*to += n
		}
		return packets, bytes, nil
	}
	return 0, 0, fmt.Errorf("no interface %s", iface)
}
