package page_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/dev/testkit"
)

// browser is a Chromium without a screen, spoken to in the protocol of its developer tools over two pipes.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	number  int
	session string
	// printedAt are errors and warnings of the page, and requests it made.
	printedAt, asked []string
}

// open starts a browser; the test is skipped where there is none.
func open(t *testing.T) *browser {
	testkit.Needs(t, "a browser")
	t.Helper()
	name := ""
	for _, n := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(n); err == nil {
			name = path
			break
		}
	}
	if name == "" {
		t.Skip("there is no Chromium to show the page")
	}
	toBrowser, ours, err := os.Pipe()
	require.NoError(t, err)
	theirs, fromBrowser, err := os.Pipe()
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	profile, err := os.MkdirTemp("", "page")
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, name, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--no-first-run", "--user-data-dir="+profile, "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{toBrowser, fromBrowser}
	if err := cmd.Start(); err != nil {
		cancel()
		t.Skipf("Chromium does not start: %v", err)
	}
	_ = toBrowser.Close()
	_ = fromBrowser.Close()
	b := &browser{t: t, in: ours, out: bufio.NewReaderSize(&patient{theirs, ctx}, 1<<20)}
	t.Cleanup(func() {
		_, _ = io.WriteString(ours, `{"id":0,"method":"Browser.close"}`+"\x00")
		_ = ours.Close()
		time.AfterFunc(5*time.Second, cancel)
		_ = cmd.Wait()
		cancel()
		_ = theirs.Close()
		_ = os.RemoveAll(profile) // as far as its processes are gone
	})
	var made struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// patient ends when the test's time does.
type patient struct {
	*os.File
	ctx context.Context
}

func (p *patient) Read(b []byte) (int, error) {
	if deadline, ok := p.ctx.Deadline(); ok {
		_ = p.SetReadDeadline(deadline)
	}
	return p.File.Read(b)
}

type answer struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.number++
	m := map[string]any{"id": b.number, "method": method, "params": params}
	if params == nil {
		m["params"] = map[string]any{}
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
	for {
		a := b.next()
		if a.ID != b.number {
			continue
		}
		require.Nil(b.t, a.Error, method)
		if result != nil {
			require.NoError(b.t, json.Unmarshal(a.Result, result))
		}
		return
	}
}

// next reads a message and takes down what it says of the page.
func (b *browser) next() *answer {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	require.NoError(b.t, err)
	var a answer
	require.NoError(b.t, json.Unmarshal(text[:len(text)-1], &a))
	switch a.Method {
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
		b.printedAt = append(b.printedAt, string(a.Params))
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		require.NoError(b.t, json.Unmarshal(a.Params, &p))
		if !strings.HasPrefix(p.Request.URL, "file:") {
			b.asked = append(b.asked, p.Request.URL)
		}
	}
	return &a
}

// load shows a page.
func (b *browser) load(html []byte) {
	b.t.Helper()
	name := filepath.Join(b.t.TempDir(), "page.html")
	require.NoError(b.t, os.WriteFile(name, html, 0o600))
	b.number++
	id := b.number
	text, err := json.Marshal(map[string]any{"id": id, "method": "Page.navigate", "params": map[string]any{"url": "file://" + name}, "sessionId": b.session})
	require.NoError(b.t, err)
	_, err = b.in.Write(append(text, 0))
	require.NoError(b.t, err)
	for {
		if b.next().Method == "Page.loadEventFired" {
			return
		}
	}
}

// eval runs a script in the page and returns its value.
func (b *browser) eval(script string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &r)
	require.Empty(b.t, string(r.ExceptionDetails), script)
	return r.Result.Value
}

// size makes the window so wide.
func (b *browser) size(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// dark chooses the colours.
func (b *browser) dark(on bool) {
	value := "light"
	if on {
		value = "dark"
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": value}}}, nil)
}

// shot writes a picture of the whole page, where the environment names a folder for pictures.
func (b *browser) shot(name string) {
	b.t.Helper()
	dir := os.Getenv("PAGE_PICTURES")
	if dir == "" {
		return
	}
	var r struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &r)
	b.write(filepath.Join(dir, name+".png"), r.Data)
}

// print writes the page as it is printed; it returns the number of its sheets.
func (b *browser) print(name string) int {
	b.t.Helper()
	var r struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"preferCSSPageSize": true, "printBackground": true}, &r)
	text, err := base64.StdEncoding.DecodeString(r.Data)
	require.NoError(b.t, err)
	if dir := os.Getenv("PAGE_PICTURES"); dir != "" {
		b.write(filepath.Join(dir, name+".pdf"), r.Data)
	}
	return strings.Count(string(text), "/Type /Page\n") + strings.Count(string(text), "/Type /Page ")
}

func (b *browser) write(name, data string) {
	text, err := base64.StdEncoding.DecodeString(data)
	require.NoError(b.t, err)
	require.NoError(b.t, os.WriteFile(name, text, 0o600))
}

// quiet fails when the page had an error, or asked for anything but itself.
func (b *browser) quiet() {
	b.t.Helper()
	b.eval("1")
	require.Empty(b.t, b.printedAt)
	require.Empty(b.t, b.asked)
}

// lowContrast is a script that returns the texts whose contrast with their background is below 4.5, the least of WCAG's level AA.
const lowContrast = `(() => {
	const channels = (color) => {
		const n = color.match(/[\d.]+/g).map(Number);
		return color.startsWith("color(") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
	};
	const luminance = (c) => {
		const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const low = new Map();
	for (const e of document.body.querySelectorAll("*")) {
		if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.getClientRects().length || e.matches("script, title, .over")) continue;
		const style = getComputedStyle(e);
		let back = [0, 0, 0, 0];
		for (let up = e; up && back[3] < 1; up = up.parentElement) back = channels(getComputedStyle(up).backgroundColor);
		const [a, b] = [luminance(channels(e instanceof SVGElement ? style.fill : style.color)), luminance(back)].sort((x, y) => y - x);
		const contrast = (a + 0.05) / (b + 0.05);
		if (contrast < 4.5) low.set(e.tagName + "." + (e.getAttribute("class") || e.parentElement.getAttribute("class")), contrast.toFixed(2) + " " + e.textContent.slice(0, 40));
	}
	return [...low].map((x) => x.join(" ")).join("; ");
})()`
