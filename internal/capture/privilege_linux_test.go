package capture

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"dubbo-wire/internal/dev/testkit"
)

// TestPrivilegeChild is what the tests below start as another process: it opens, drops, captures, and prints what it
// sees. Its orders are in the environment: interfaces and a user, either of them "-" for none.
func TestPrivilegeChild(t *testing.T) {
	orders := strings.Fields(os.Getenv("CAPTURE_TEST_CHILD"))
	if len(orders) != 2 {
		t.Skip("is a part of other tests")
	}
	// Threads that do nothing, and one that is locked, have to lose their privileges as well.
	var hold sync.WaitGroup
	hold.Add(1)
	started := make(chan struct{})
	for range 4 {
		go runtimeLocked(func() {
			started <- struct{}{}
			hold.Wait()
		})
	}
	for range 4 {
		<-started
	}
	defer hold.Done()
	if room, err := strconv.ParseUint(os.Getenv("CAPTURE_TEST_ROOM"), 10, 64); err == nil {
		assert.NoError(t, leaveRoom(room))
	}
	var l *Live
	if orders[0] != "-" {
		var err error
		l, err = OpenLive(strings.Split(orders[0], ","), LiveOptions{Notice: func(line string) { fmt.Println("notice:", line) }})
		if err != nil {
			fmt.Println("open:", err)
			return
		}
		defer l.Close()
		fmt.Println("ring:", len(l.ring.mem))
	}
	if err := DropPrivileges(Privileges{User: strings.Trim(orders[1], "-")}); err != nil {
		fmt.Println("drop:", err)
		return
	}
	for range 4 { // and those that start later
		go runtimeLocked(func() {
			started <- struct{}{}
			hold.Wait()
		})
	}
	for range 4 {
		<-started
	}
	printThreads()
	_, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	fmt.Println("another socket:", err)
	fmt.Println("ready")
	if l == nil {
		return
	}
	var p Packet
	for start := time.Now(); time.Since(start) < 5*time.Minute; {
		if l.Next(&p) == nil && len(p.Data) > 42 {
			fmt.Println("packet:", p.Data[len(p.Data)-7])
		}
	}
}

// leaveRoom lets the process have that much more address space.
func leaveRoom(bytes uint64) error {
	var pages uint64
	statm, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(statm), &pages)
	}
	if err != nil {
		return err
	}
	limit := pages*uint64(os.Getpagesize()) + bytes
	return unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit})
}

// A ring that is refused is asked for with half the size, and so on.
func TestLiveSmallerRing(t *testing.T) {
	withoutCgo(t)                             // which needs more room for its threads
	openLive(t, "lo", LiveOptions{Buffer: 1}) // or it is skipped
	t.Setenv("CAPTURE_TEST_ROOM", strconv.Itoa(31<<20))
	lines := startChild(t, "/proc/self/exe", "lo -", nil).until("ring:")
	size, err := strconv.Atoi(strings.TrimPrefix(lines[len(lines)-1], "ring: "))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, size, ringLeast)
	assert.LessOrEqual(t, size, 16<<20)
}

// printThreads prints what the kernel has of every thread.
func printThreads() {
	all, _ := filepath.Glob("/proc/self/task/*/status")
	for _, file := range all {
		status, err := os.ReadFile(file)
		if err != nil {
			continue // a thread that has ended
		}
		var line []string
		for l := range strings.Lines(string(status)) {
			key, value, _ := strings.Cut(l, ":")
			switch key {
			case "Uid", "Gid", "Groups", "CapEff", "CapPrm", "CapInh", "CapAmb", "CapBnd", "NoNewPrivs":
				line = append(line, key+"="+strings.Join(strings.Fields(value), ","))
			}
		}
		fmt.Println("thread:", strings.Join(line, " "))
	}
}

// child runs the test binary, or a copy of it, as TestPrivilegeChild.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
}

func startChild(t *testing.T, binary, orders string, as *syscall.Credential) *child {
	t.Helper()
	cmd := exec.Command(binary, "-test.run=^TestPrivilegeChild$", "-test.v")
	cmd.Env = append(os.Environ(), "CAPTURE_TEST_CHILD="+orders)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = cmd.Stdout
	require.NoError(t, cmd.Start())
	c := &child{t: t, cmd: cmd, lines: make(chan string, 1000)}
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			c.lines <- s.Text()
		}
		close(c.lines)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return c
}

// until returns the lines up to one that begins so.
func (c *child) until(start string) []string {
	c.t.Helper()
	return c.untilSent(nil, nil, start)
}

// untilSent is until, and sends a frame again and again meanwhile: an interface that is made again is captured from some time
// later.
func (c *child) untilSent(s *sender, frame []byte, start string) []string {
	c.t.Helper()
	var again <-chan time.Time
	if s != nil {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		again = ticker.C
	}
	var lines []string
	for after := time.After(time.Minute); ; {
		select {
		case <-again:
			require.NoError(c.t, s.send(frame))
		case line, ok := <-c.lines:
			lines = append(lines, line)
			if strings.HasPrefix(line, start) {
				return lines
			}
			require.True(c.t, ok, "ended without %q: %q", start, lines)
		case <-after:
			require.Fail(c.t, "no "+start, "%q", lines)
		}
	}
}

// withoutCgo skips where privileges cannot be dropped: under the race detector.
func withoutCgo(t *testing.T) {
	t.Helper()
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0); errno == unix.ENOTSUP {
		t.Skip("needs a build without cgo")
	}
}

// dropped checks what the child has told up to "ready", of threads of that user.
func dropped(t *testing.T, lines []string, user string, bounded bool) {
	t.Helper()
	threads := 0
	for _, line := range lines {
		if rest, ok := strings.CutPrefix(line, "thread: "); ok {
			threads++
			for _, want := range []string{
				"CapInh=0000000000000000", "CapPrm=0000000000000000", "CapEff=0000000000000000", "CapAmb=0000000000000000",
				"NoNewPrivs=1", "Uid=" + strings.Repeat(","+user, 4)[1:], "Gid=" + strings.Repeat(","+user, 4)[1:],
			} {
				assert.Contains(t, rest+" ", want+" ")
			}
			if bounded {
				assert.Contains(t, rest, "CapBnd=0000000000000000")
			}
			if user != "0" {
				assert.Regexp(t, `Groups=(`+user+`)? `, rest+" ")
			}
		}
	}
	assert.GreaterOrEqual(t, threads, 9, "%q", lines)
	assert.Contains(t, lines, "another socket: operation not permitted")
}

// A capture of root goes on without any privilege, under whatever user, also when its interface is taken away and made
// again.
func TestDropPrivilegesOfRoot(t *testing.T) {
	withoutCgo(t)
	for _, user := range []string{"-", "nobody", "65534", "12345"} {
		for _, names := range []string{"v-ring0", "lo,v-ring0"} {
			t.Run(user+" "+names, func(t *testing.T) {
				if testing.Short() && names != "v-ring0" {
					t.Skip("one is enough for -short")
				}
				inNamespace(t)
				pair(t, "v-ring0", "v-ring1")
				c := startChild(t, "/proc/self/exe", names+" "+user, nil)
				id := map[string]string{"-": "0", "nobody": "65534"}[user]
				if id == "" {
					id = user
				}
				dropped(t, c.until("ready"), id, true)
				assert.Contains(t, linkDetails(t, "v-ring0"), "promiscuity 1")
				require.NoError(t, newSender(t, "v-ring1").send(testFrame(7, 10)))
				c.until("packet: 7")
				ip(t, "link del v-ring0")
				c.until("notice: v-ring0 disappeared")
				pair(t, "v-ring0", "v-ring1")
				c.until("notice: v-ring0 is back")
				for start := time.Now(); !strings.Contains(linkDetails(t, "v-ring0"), "promiscuity 1"); time.Sleep(20 * time.Millisecond) {
					require.Less(t, time.Since(start), time.Minute)
				}
				s := newSender(t, "v-ring1")
				c.untilSent(s, testFrame(8, 10), "packet: 8")
			})
		}
	}
}

// With cgo, changing the user is what takes all capabilities away; without that it says what is the matter.
func TestDropPrivilegesWithCgo(t *testing.T) {
	if _, _, errno := syscall.AllThreadsSyscall(unix.SYS_GETPID, 0, 0, 0); errno != unix.ENOTSUP {
		t.Skip("needs a build with cgo")
	}
	path := allowedCopy(t, "")
	dropped(t, startChild(t, path, "lo nobody", nil).until("ready"), "65534", false)
	dropped(t, startChild(t, path, "- -", nobody).until("ready"), "65534", false)
	lines := startChild(t, path, "lo -", nil).until("drop:")
	assert.Contains(t, lines[len(lines)-1], "this program was built with cgo; build it with CGO_ENABLED=0")
}

func linkDetails(t *testing.T, name string) string {
	out, err := exec.Command("ip", "-d", "link", "show", name).Output()
	assert.NoError(t, err)
	return string(out)
}

// allowedCopy is a copy of the test binary that everybody may run, with the capability that is asked for.
func allowedCopy(t *testing.T, capability string) string {
	testkit.Needs(t, "root, to run as another user")
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, to run as another user")
	}
	dir, err := os.MkdirTemp("", "capture-right-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	from, err := os.Open("/proc/self/exe")
	require.NoError(t, err)
	defer from.Close()
	path := filepath.Join(dir, "capture.test")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, from)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	if capability != "" {
		if _, err := exec.LookPath("setcap"); err != nil {
			t.Skip("needs setcap")
		}
		if out, err := exec.Command("setcap", capability, path).CombinedOutput(); err != nil {
			t.Skipf("needs file capabilities: setcap: %s", out)
		}
	}
	return path
}

var nobody = &syscall.Credential{Uid: 65534, Gid: 65534}

// An ordinary user captures with cap_net_raw alone, promiscuously and with an interface that is made again.
func TestLiveOfOrdinaryUser(t *testing.T) {
	withoutCgo(t)
	inNamespace(t)
	pair(t, "v-ring0", "v-ring1")
	path := allowedCopy(t, "cap_net_raw+ep")
	c := startChild(t, path, "v-ring0 -", nobody)
	dropped(t, c.until("ready"), "65534", false)
	assert.Contains(t, linkDetails(t, "v-ring0"), "promiscuity 1")
	require.NoError(t, newSender(t, "v-ring1").send(testFrame(7, 10)))
	c.until("packet: 7")
	ip(t, "link del v-ring0")
	c.until("notice: v-ring0 disappeared")
	pair(t, "v-ring0", "v-ring1")
	c.until("notice: v-ring0 is back")
	s := newSender(t, "v-ring1")
	c.untilSent(s, testFrame(8, 10), "packet: 8")

	lines := startChild(t, path, "any -", nobody).until("ready")
	dropped(t, lines, "65534", false)
	lines = startChild(t, path, "v-ring0 root", nobody).until("drop:")
	assert.Equal(t, "drop: the user cannot be changed to root: that needs root (CAP_SETUID and CAP_SETGID), but dubbo-wire runs as uid 65534; run with sudo, or without --user", lines[len(lines)-1])
	lines = startChild(t, path, "v-ring0 nobody", nobody).until("ready") // who it is already
	dropped(t, lines, "65534", false)
	lines = startChild(t, path, "v-ring0 no-such-user", nobody).until("drop:")
	assert.Equal(t, "drop: there is no user no-such-user; give a name from /etc/passwd, or a number", lines[len(lines)-1])
}

// A file that permits cap_net_raw without making it effective captures as well, and starts where nothing may have the capability.
func TestLiveOfPermittedFile(t *testing.T) {
	withoutCgo(t)
	path := allowedCopy(t, "cap_net_raw+p")
	dropped(t, startChild(t, path, "lo -", nobody).until("ready"), "65534", false)
	if capsh, err := exec.LookPath("capsh"); err == nil {
		out, _ := exec.Command(capsh, "--drop=cap_net_raw", "--user=nobody", "--", "-c", "CAPTURE_TEST_CHILD='- -' "+path+" -test.run=^TestPrivilegeChild$").CombinedOutput()
		assert.Contains(t, string(out), "ready\n")
	}
}

// Who has no right is told the two ways to get it; who has nothing to give up can still give it up.
func TestLiveWithoutRight(t *testing.T) {
	path := allowedCopy(t, "")
	lines := startChild(t, path, "lo -", nobody).until("open:")
	assert.Equal(t, "open: no permission to capture from lo; run with sudo, or allow it once: sudo setcap cap_net_raw+ep "+path, lines[len(lines)-1])
	if capsh, err := exec.LookPath("capsh"); err == nil {
		out, _ := exec.Command(capsh, "--drop=cap_net_raw", "--", "-c", "CAPTURE_TEST_CHILD='lo -' "+path+" -test.run=^TestPrivilegeChild$").Output()
		assert.Contains(t, string(out), "open: no permission to capture from lo: no program here can have cap_net_raw; start the container with --cap-add NET_RAW, then run with sudo, or allow")
	}
	withoutCgo(t)
	dropped(t, startChild(t, path, "- -", nobody).until("ready"), "65534", false)

	path = allowedCopy(t, "cap_net_raw+ep")
	cmd := exec.Command("setpriv", "--no-new-privs", path, "-test.run=^TestPrivilegeChild$", "-test.v")
	if _, err := exec.LookPath("setpriv"); err != nil {
		t.Skip("needs setpriv")
	}
	cmd.Env = []string{"CAPTURE_TEST_CHILD=lo -"}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: nobody}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Contains(t, string(out), path+" has the capability, but it has no effect here")
}

func TestLookUp(t *testing.T) {
	uid, gid, err := lookUpUser("root")
	require.NoError(t, err)
	assert.Equal(t, [2]int{0, 0}, [2]int{uid, gid})
	uid, gid, err = lookUpUser("0")
	require.NoError(t, err)
	assert.Equal(t, [2]int{0, 0}, [2]int{uid, gid})
	uid, gid, err = lookUpUser("1234567")
	require.NoError(t, err)
	assert.Equal(t, [2]int{1234567, 1234567}, [2]int{uid, gid})
	for _, name := range []string{"no-such-user", "-1", "99999999999", "1:1", ""} {
		_, _, err = lookUpUser(name)
		assert.ErrorContains(t, err, "there is no user "+name, strconv.Quote(name))
	}
}
