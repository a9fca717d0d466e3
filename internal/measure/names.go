package measure

import (
	"encoding/json"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dubbo-wire/internal/call"
	"dubbo-wire/internal/capture"
	"dubbo-wire/internal/decode/formats"
	"dubbo-wire/internal/decode/protocols"
	"dubbo-wire/internal/pipeline"
	"dubbo-wire/internal/rpc"
)

// Limits for completion, because the user waits for it.
const (
	completeBytes = 64 << 20
	completeTime  = 300 * time.Millisecond
	completeFiles = 64
	completeNames = 2000 // of each kind
)

// Names are the sorted names in captures by kind: service, method, client, server, host, port.
type Names map[string][]string

// ReadNames reads the beginning of the captures that FILE arguments name, for a short time, and ignores what it cannot read.
// services are patterns that restrict the methods. Standard input, pipes and devices are not read.
func ReadNames(args []string, services []string) Names {
	return readNames(args, services, completeTime)
}

func readNames(args []string, services []string, limit time.Duration) Names {
	c := &nameCollector{sets: make(map[string]map[string]bool)}
	for _, s := range services {
		c.services = append(c.services, call.ParseGlob(s))
	}
	var paths []string
	for _, arg := range args {
		paths = append(paths, regularFiles(nameOfFile(arg))...)
	}
	paths = paths[:min(len(paths), completeFiles)]
	c.until(limit, func() { c.read(paths) })
	return c.names()
}

// regularFiles returns path if it is a file, or the files in it if it is a folder.
func regularFiles(path string) []string {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil
	case info.Mode().IsRegular():
		return []string{path}
	case !info.IsDir():
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(4 * completeFiles)
	var list []string
	for _, e := range entries {
		if e.Type().IsRegular() && len(list) < completeFiles {
			list = append(list, filepath.Join(path, e.Name()))
		}
	}
	return list
}

// nameCollector is the sink that collects names.
type nameCollector struct {
	services []call.Glob
	over     atomic.Bool

	mu   sync.Mutex
	sets map[string]map[string]bool
}

// until returns when read does, or after the limit.
func (c *nameCollector) until(limit time.Duration, read func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		read()
	}()
	select {
	case <-done:
	case <-time.After(limit):
		c.over.Store(true) // the process ends soon; use what was found
	}
}

func (c *nameCollector) read(paths []string) {
	left := int64(completeBytes)
	for _, path := range paths {
		if left <= 0 || c.over.Load() {
			return
		}
		if strings.HasSuffix(path, ".json") {
			left -= c.saved(path, left)
			continue
		}
		src, err := capture.Open([]string{path}, capture.Options{Stdin: strings.NewReader("")})
		if err != nil {
			continue
		}
		_, _ = pipeline.Run(src, pipeline.Options{
			Protocols: protocols.All(), Formats: formats.All(), Detail: rpc.Envelope, Jobs: 1,
			Stop: func() bool {
				read, _ := src.Progress()
				return c.over.Load() || read > left
			},
		}, c)
		read, _ := src.Progress()
		left -= read
		_ = src.Close()
	}
}

// saved collects the names in a saved report and returns its size in bytes.
func (c *nameCollector) saved(path string, most int64) int64 {
	info, err := os.Stat(path)
	if err != nil || info.Size() > most {
		return 0
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	var report struct {
		Groups []struct{ Service, Method, Client, Server string }
	}
	if json.Unmarshal(data, &report) == nil {
		for _, g := range report.Groups {
			c.add(g.Service, g.Method, g.Client, g.Server)
		}
	}
	return int64(len(data))
}

// Frame does nothing: calls have the names.
func (c *nameCollector) Frame(*pipeline.Row) {}

func (c *nameCollector) Call(k *call.Call, _ bool) {
	if k.Request != nil {
		c.add(k.Request.Service(), k.Request.Method(), k.Client(), k.Server())
	}
}

func (c *nameCollector) add(service, method, client, server string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put("service", service)
	if call.MatchService(c.services, service) {
		c.put("method", method)
	}
	client, server = call.Host(client), strings.TrimSpace(server)
	c.put("client", client)
	c.put("server", server)
	c.put("host", client)
	if host, port, err := net.SplitHostPort(server); err == nil {
		c.put("host", host)
		c.put("port", port)
	}
}

// put adds a name, unless it has characters that cannot stand in one word of a command line.
func (c *nameCollector) put(kind, name string) {
	if name == "" || name == "?" || len(name) > 500 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == 0x7f || r == ',' }) {
		return
	}
	if c.sets[kind] == nil {
		c.sets[kind] = make(map[string]bool)
	}
	if len(c.sets[kind]) < completeNames {
		c.sets[kind][strings.Clone(name)] = true
	}
}

func (c *nameCollector) names() Names {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make(Names)
	for kind, set := range c.sets {
		all[kind] = slices.Sorted(maps.Keys(set))
	}
	return all
}

// nameOfFile returns the FILE of an argument, without its label.
func nameOfFile(arg string) string {
	if label, file, ok := strings.Cut(arg, "="); ok && !strings.ContainsAny(label, `/\.`) {
		return file
	}
	return filepath.Clean(arg)
}
