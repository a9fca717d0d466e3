package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/capture/packet"
	"dubbo-wire/internal/capture/pcapng"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/dev/testkit"
)

// TestLuaAgreesWithFrames: tshark with the script of "lua" shows the frames of the dubbo protocol that "frames" prints, in every
// committed capture. Frames that the capture does not have completely are left out.
//
// Starting tshark takes longer than reading a capture, so it reads many captures as one file.
func TestLuaAgreesWithFrames(t *testing.T) {
	testkit.Needs(t, "tshark")
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: ", err)
	}
	script := writeLua(t)
	var frames atomic.Int64
	t.Run("captures", func(t *testing.T) {
		for i, j := range joinCaptures(t) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				theirs := tsharkFrames(t, script, j)
				ours := framesForTshark(t, j.paths)
				for _, path := range j.paths {
					file := filepath.Base(path)
					missing, extra := without(ours[file], theirs[file]), without(theirs[file], ours[file])
					assert.Empty(t, missing[:min(len(missing), 3)], "%s: %d frames of dubbo-wire's are not tshark's", file, len(missing))
					assert.Empty(t, extra[:min(len(extra), 3)], "%s: %d frames of tshark's are not dubbo-wire's", file, len(extra))
					frames.Add(int64(len(ours[file])))
				}
			})
		}
	})
	if os.Getenv("CAPTURES") == "" {
		require.Greater(t, frames.Load(), int64(90_000))
	}
}

// without returns what is in a, as often as that is more than in b. Both are sorted.
func without(a, b []string) (left []string) {
	for _, line := range a {
		for len(b) > 0 && b[0] < line {
			b = b[1:]
		}
		if len(b) > 0 && b[0] == line {
			b = b[1:]
		} else {
			left = append(left, line)
		}
	}
	return left
}

// writeLua writes the script to a file.
func writeLua(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dubbo.lua")
	require.NoError(t, os.WriteFile(path, []byte(must(t, "lua")), 0o600))
	return path
}

// joined is a file with a section for each of some captures that have no connection in common.
type joined struct {
	path    string
	paths   []string
	needs   string   // arguments of tshark
	origins []origin // of its packets
	conns   map[[2]packet.Endpoint]bool
}

// origin is where a packet comes from.
type origin struct {
	file   string
	number int64
}

// maxJoined is the number of packets after which a file takes no more captures, so that several can be read at a time.
const maxJoined = 40_000

func joinCaptures(t *testing.T) (all []*joined) {
	t.Helper()
	dir := t.TempDir()
	for _, c := range testkit.Captures() {
		section, packets, conns := section(t, c.Path(), nil)
		at := slices.IndexFunc(all, func(j *joined) bool {
			return j.needs == tsharkNeeds[c.Name] && len(j.origins)+packets <= maxJoined && !haveCommon(j.conns, conns)
		})
		if at < 0 {
			at = len(all)
			all = append(all, &joined{path: filepath.Join(dir, strconv.Itoa(at)+".pcapng"), needs: tsharkNeeds[c.Name], conns: map[[2]packet.Endpoint]bool{}})
		}
		j := all[at]
		f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.Write(section)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		j.paths = append(j.paths, c.Path())
		for i := range packets {
			j.origins = append(j.origins, origin{filepath.Base(c.Path()), int64(i + 1)})
		}
		for ends := range conns {
			j.conns[ends] = true
		}
	}
	return all
}

// section returns the packets of a capture as a section of a pcapng file, and the ends of its connections. change, if not nil, may change
// the payload of each segment.
func section(t *testing.T, path string, change func(payload []byte)) (out []byte, packets int, conns map[[2]packet.Endpoint]bool) {
	t.Helper()
	src, err := capture.Open([]string{path}, capture.Options{})
	require.NoError(t, err)
	defer src.Close()
	conns = map[[2]packet.Endpoint]bool{}
	interfaces := map[int]uint32{}
	out = pcapng.AppendSection(nil, "", "", "")
	var d packet.Decoder
	for {
		var p capture.Packet
		if err := src.Next(&p); errors.Is(err, io.EOF) {
			return out, packets, conns
		} else {
			require.NoError(t, err)
		}
		id, ok := interfaces[p.Interface]
		if !ok {
			id = uint32(len(interfaces))
			interfaces[p.Interface] = id
			out = pcapng.AppendInterface(out, pcapng.Description{Link: uint16(p.Link), Digits: 9})
		}
		var s packet.Segment
		if d.Decode(&p, &s) == packet.TCP {
			conns[[2]packet.Endpoint{s.Src, s.Dst}] = true
			if change != nil {
				change(s.Payload)
			}
		}
		out = pcapng.AppendPacket(out, id, uint64(p.Time), p.Data, p.WireLen)
		packets++
	}
}

func haveCommon[K comparable](a, b map[K]bool) bool {
	for k := range b {
		if a[k] {
			return true
		}
	}
	return false
}

// tsharkNeeds are preferences without which tshark does not read a capture as dubbo-wire does, by capture. With the first one it
// would wait in others for the bytes that a short snap length cut.
var tsharkNeeds = map[string]string{
	"loss":              "-o tcp.reassemble_out_of_order:TRUE", // late segments
	"tags-pseudowire":   "-d mpls.label==100,pwethnocw",        // nothing in the packets says that the label is that of a pseudowire
	"tunnel-vxlan-8472": "-d udp.port==8472,vxlan",             // the port of Linux before there was a number
}

// shown is what both programs say of a frame. Absent and null texts are "".
type shown struct {
	packet                             int64
	id, kind, serialization, bodyBytes string
	status                             string // of a response
	dubboVersion, service, version     string
	method, types                      string
	result, errorMessage               string
	requestIn                          int64 // the packet that completed the request of a response, 0 if there is none
	sinceRequest                       time.Duration
	requestedService, requestedMethod  string
}

func (f *shown) String() string { return fmt.Sprintf("%6d %+v", f.packet, *f) }

// tsharkFrames returns what tshark shows, by file.
func tsharkFrames(t *testing.T, script string, j *joined) map[string][]string {
	args := []string{"-n", "-r", j.path, "-X", "lua_script:" + script, "-Y", "dubbo", "-T", "pdml", "-J", "dubbo"}
	cmd := exec.Command("tshark", append(args, strings.Fields(j.needs)...)...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	all := map[string][]string{}
	var number int64
	var f *shown
	incomplete := false
	end := func() {
		if f != nil && f.id != "" && !incomplete {
			o := j.origins[number-1]
			f.packet = o.number
			if f.requestIn > 0 {
				require.Equal(t, o.file, j.origins[f.requestIn-1].file)
				f.requestIn = j.origins[f.requestIn-1].number
			}
			all[o.file] = append(all[o.file], f.String())
		}
		f, incomplete = nil, false
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		name := attribute(line, "name")
		switch {
		case strings.HasPrefix(line, "  <proto") || strings.HasPrefix(line, "</packet"):
			end()
			if name == "dubbo" {
				f = new(shown)
			}
			assert.NotContains(t, line, "Lua Error")
		case name == "num":
			number, _ = strconv.ParseInt(attribute(line, "show"), 10, 64)
		case f != nil:
			incomplete = incomplete || name == "dubbo.incomplete"
			f.set(name, attribute(line, "show"), strings.Contains(line, `size="0"`))
		}
	}
	require.NoError(t, lines.Err())
	require.NoError(t, cmd.Wait(), stderr.String())
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// attribute returns an attribute of a line of XML.
func attribute(line, name string) string {
	_, value, _ := strings.Cut(line, " "+name+`="`)
	value, _, _ = strings.Cut(value, `"`)
	return html.UnescapeString(value)
}

// set takes a field as tshark shows it. Fields without bytes of their own come from the request of a response.
func (f *shown) set(name, value string, empty bool) {
	switch name {
	case "dubbo.id":
		f.id = value
	case "dubbo.kind":
		f.kind = value
	case "dubbo.serialization":
		f.serialization = value
	case "dubbo.body_bytes":
		f.bodyBytes = value
	case "dubbo.status":
		f.status = value
	case "dubbo.dubbo_version":
		f.dubboVersion = value
	case "dubbo.service":
		if empty {
			f.requestedService = value
		} else {
			f.service = value
		}
	case "dubbo.service_version":
		f.version = value
	case "dubbo.method":
		if empty {
			f.requestedMethod = value
		} else {
			f.method = value
		}
	case "dubbo.parameter_types":
		f.types = value
	case "dubbo.result_kind":
		f.result = map[string]string{"0": "exception", "1": "value", "2": "null", "3": "exception", "4": "value", "5": "null"}[value]
	case "dubbo.error_message":
		f.errorMessage = startOf(value)
	case "dubbo.request_in":
		f.requestIn, _ = strconv.ParseInt(value, 10, 64)
	case "dubbo.time":
		f.sinceRequest, _ = time.ParseDuration(value + "s")
	}
}

// startOf returns as much of a text as is compared: tshark shows the first 239 bytes, and control characters, quotes and backslashes in
// its own way.
func startOf(text string) string {
	text = text[:min(len(text), 200)]
	if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == '\ufffd' || r == '"' || r == '\\' }); i >= 0 {
		text = text[:i]
	}
	return text
}

// framesForTshark returns what frames prints of captures, by file, with what the script differs in:
//
//   - The serialization is that of the header's id. Dialects have no name of their own, and bodies that are written in another
//     serialization than the header says only have a note.
//   - Of a result only the kind is read, so an exception has no message.
//   - Dubbox writes the number of arguments in place of their types. Both then have no types, whatever the number is.
func framesForTshark(t *testing.T, paths []string) map[string][]string {
	out, stderr, code := dubboWire(append([]string{"frames", "--format", "csv"}, paths...)...)
	require.Zero(t, code, stderr)
	names := map[string][]string{}
	for _, f := range formats.All() {
		id := strconv.Itoa(int(f.ID))
		names[id] = append(names[id], f.Name)
	}
	rows := csv.NewReader(strings.NewReader(out))
	rows.ReuseRecord = true
	head, err := rows.Read()
	require.NoError(t, err)
	column := map[string]int{}
	for i, name := range head {
		column[strings.Clone(name)] = i
	}
	type key struct {
		connection, sender, id string
		event                  bool
	}
	type request struct {
		packet          int64
		time            time.Time
		service, method string
	}
	open := map[key][]request{}
	all := map[string][]string{}
	for {
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		get := func(name string) string { return row[column[name]] }
		if get("protocol") != "dubbo" {
			continue
		}
		f := shown{
			id: get("id"), kind: get("kind"), bodyBytes: get("bodyBytes"), dubboVersion: get("dubboVersion"), service: get("service"),
			version: get("version"), method: get("method"), types: strings.ReplaceAll(get("parameterTypes"), ",", ", "), result: get("resultKind"), status: get("status"),
		}
		f.packet, err = strconv.ParseInt(get("lastPacket"), 10, 64)
		require.NoError(t, err)
		f.serialization, _, _ = strings.Cut(get("serialization"), " (")
		if known := names[get("serializationId")]; len(known) > 0 && !slices.Contains(known, f.serialization) {
			f.serialization = known[0]
		}
		if f.result == "" {
			f.errorMessage = startOf(get("errorMessage"))
		}
		at, err := time.Parse(time.RFC3339Nano, get("time"))
		require.NoError(t, err)
		k := key{get("connection"), get("src"), f.id, f.kind == "heartbeat" || f.kind == "event"}
		switch {
		case f.status == "" && get("twoWay") == "true":
			open[k] = append(open[k], request{f.packet, at, f.service, f.method})
		case f.status != "":
			k.sender = get("dst")
			if list := open[k]; len(list) > 0 {
				r := list[0]
				open[k] = list[1:]
				f.requestIn, f.sinceRequest, f.requestedService, f.requestedMethod = r.packet, at.Sub(r.time), r.service, r.method
			}
		}
		if get("complete") == "true" {
			file := strings.Clone(get("file"))
			all[file] = append(all[file], f.String())
		}
	}
	for _, list := range all {
		slices.Sort(list)
	}
	return all
}

// TestLuaHostile: the script fails on no bytes.
func TestLuaHostile(t *testing.T) {
	testkit.Needs(t, "tshark")
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: ", err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "hostile.pcapng")
	var file []byte
	for _, name := range []string{"mixed", "mixed-3.2.16", "mixed-2.5.3", "mixed-extensions-1.0.1", "loss", "snap200", "midway", "dubbox-fst"} {
		s, _, _ := section(t, testkit.Get(t, name).Path(), func(payload []byte) {
			for range len(payload) / 64 {
				payload[random.IntN(len(payload))] = byte(random.Uint32())
			}
			if len(payload) > 16 && random.IntN(2) == 0 { // in the lengths, too
				payload[12+random.IntN(4)] ^= byte(1 << random.IntN(8))
			}
		})
		file = append(file, s...)
	}
	require.NoError(t, os.WriteFile(path, file, 0o600))
	out, err := exec.Command("tshark", "-n", "-r", path, "-X", "lua_script:"+writeLua(t), "-2", "-O", "dubbo").CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(out), "Apache Dubbo, Request")
	require.NotContains(t, string(out), "Lua Error")
	require.NotContains(t, string(out), "dubbo.lua:")
}
