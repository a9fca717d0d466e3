package estimated

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"dubbo-wire/internal/decode/classpath"
	"dubbo-wire/internal/estimate/helper"
	"dubbo-wire/internal/estimate/jvm"
)

// Capture is a capture of a workload in one serialization, "kryo registered" where the application registers its classes.
type Capture struct {
	Workload, Serialization string
	File, Truth             string
}

// registeredSuffix ends the names of serializations whose classes are registered, as --as has them.
const registeredSuffix = " registered"

// Key says what a cell compares: the estimates from a source in a target, of the calls of a workload.
type Key struct{ Workload, Source, Target string }

// Cell compares estimates with what the capture of the target has for the same calls.
type Cell struct {
	// Bodies are those of the source that the target's capture has, too; Equal are those whose estimate has the captured size, Same those with the
	// captured bytes.
	Bodies, Equal, Same int
	// Apart is the sum of the differences in size, in bytes, and Bytes the sum of the captured sizes, both of bodies that have an estimate.
	Apart, Bytes int
	// Causes count the bodies without an estimate. Examples are some of those with another size.
	Causes   map[string]int
	Examples []string
}

// Share returns the percentage of bodies whose estimate has the captured size.
func (c *Cell) Share() float64 { return percent(c.Equal, c.Bodies) }

// Error returns the sum of the differences in percent of the captured bytes.
func (c *Cell) Error() float64 { return percent(c.Apart, c.Bytes) }

func percent(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// Add adds the bodies of another cell.
func (c *Cell) Add(o *Cell) {
	c.Bodies, c.Equal, c.Same, c.Apart, c.Bytes = c.Bodies+o.Bodies, c.Equal+o.Equal, c.Same+o.Same, c.Apart+o.Apart, c.Bytes+o.Bytes
}

// Matrix estimates the captures of one release in each other's serializations.
type Matrix struct {
	Java      string
	ClassPath []string // jars of the release
	UserPath  []string // jars of the application
	Protos    []string // schemas of messages that have no classes in these
	// Registered are the classes that the application registers, and List the file that has them.
	Registered []string
	List       string
	Captures   []Capture
	// Sources are the serializations to estimate from; nil for all.
	Sources []string
	// Only chooses the bodies that are sent; nil for all.
	Only func(*Body) bool
	// Examples is how many differences a cell keeps.
	Examples int

	// Usual is set for a body of which the most frequent size is wanted. Others are targets that only such bodies are encoded in.
	Usual  func(*Capture, *Body) bool
	Others []string
	// Sizes are the sizes of these bodies in each target: how many requests, and how many responses, have each.
	Sizes map[string]*[2]map[int]int
}

// machine is a Java virtual machine, and the names of its targets.
type machine struct {
	targets []string
	usual   bool // it encodes only the bodies of which the most frequent size is wanted
	child   *jvm.Child
}

// run is a matrix at work.
type run struct {
	*Matrix
	machines []*machine
	logged   map[[2]string]map[string]Body // by workload and serialization, then by key

	mu    sync.Mutex
	sent  []sent // by the id of the record
	cells map[Key]*Cell
}

// sent is a body that was sent to the machines.
type sent struct {
	from *Capture
	body Body
}

// Run returns the cells. One virtual machine writes the bodies of all captures, and another one those with registered classes.
func (m *Matrix) Run(ctx context.Context) (map[Key]*Cell, error) {
	r := &run{Matrix: m, logged: map[[2]string]map[string]Body{}, cells: map[Key]*Cell{}}
	m.Sizes = map[string]*[2]map[int]int{}
	plain, registered, others := &machine{}, &machine{}, &machine{targets: m.Others, usual: true}
	for i := range m.Captures {
		c := &m.Captures[i]
		bodies, err := Logged(c.Truth)
		if err != nil {
			return nil, err
		}
		byKey := map[string]Body{}
		for _, b := range bodies {
			byKey[b.Key] = b
		}
		r.logged[[2]string{c.Workload, c.Serialization}] = byKey
		vm := plain
		if strings.HasSuffix(c.Serialization, registeredSuffix) {
			vm = registered
		}
		if !slices.Contains(vm.targets, c.Serialization) {
			vm.targets = append(vm.targets, c.Serialization)
		}
	}
	for _, vm := range []*machine{plain, registered, others} {
		if len(vm.targets) == 0 {
			continue
		}
		if err := r.start(ctx, vm); err != nil {
			return nil, err
		}
		defer vm.child.Close() //nolint:errcheck // Finish has told of errors
	}
	for i := range m.Captures {
		c := &m.Captures[i]
		if len(m.Sources) > 0 && !slices.Contains(m.Sources, c.Serialization) {
			continue
		}
		if err := r.send(c); err != nil {
			return nil, fmt.Errorf("%s: %w", c.File, err)
		}
	}
	for _, vm := range r.machines {
		if _, err := vm.child.Finish(); err != nil {
			return nil, err
		}
		if n := vm.child.Deaths(); n > 0 {
			return nil, fmt.Errorf("%d of the Java processes died", n)
		}
	}
	return r.cells, nil
}

// start starts a machine.
func (r *run) start(ctx context.Context, vm *machine) (err error) {
	path, err := classpath.Open(classpath.Options{Protos: r.Protos})
	if err != nil {
		return err
	}
	config := jvm.Config{Schemas: path.Generated(), Source: helper.Source, Java: r.Java, ClassPath: r.ClassPath, UserPath: r.UserPath, MaxBody: 16 << 20, Timeout: 10 * time.Minute} // however busy the machine is
	for _, t := range vm.targets {
		base, registered := strings.CutSuffix(t, registeredSuffix)
		if registered {
			config.Registered = r.Registered
		}
		config.Targets = append(config.Targets, base)
	}
	vm.child, err = jvm.Start(ctx, config, func(result jvm.Result) { r.receive(vm, result) })
	if err == nil {
		r.machines = append(r.machines, vm)
	}
	return err
}

// send sends the messages of a capture whose bodies were logged.
func (r *run) send(c *Capture) error {
	bodies, err := Logged(c.Truth)
	if err != nil {
		return err
	}
	list := ""
	if strings.HasSuffix(c.Serialization, registeredSuffix) {
		list = r.List
	}
	messages, err := Messages(c.File, list, r.Protos, r.UserPath...)
	if err != nil {
		return err
	}
	for i := range messages {
		msg := &messages[i]
		body, ok := bodies[msg.Place]
		if !ok || r.Only != nil && !r.Only(&body) {
			continue
		}
		r.mu.Lock()
		if msg.Cause != "" {
			r.compare(c, body, r.all(), func(int) *jvm.Encoded { return &jvm.Encoded{Cause: "not sent: " + msg.Cause} })
			r.mu.Unlock()
			continue
		}
		msg.Record.ID = int64(len(r.sent))
		r.sent = append(r.sent, sent{c, body})
		r.mu.Unlock()
		record := msg.Record.Append(nil)
		for _, vm := range r.machines {
			if vm.usual && !r.Usual(c, &body) {
				continue
			}
			if err := vm.child.Send(record); err != nil {
				return err
			}
		}
	}
	return nil
}

// all returns the targets of all machines.
func (r *run) all() (targets []string) {
	for _, vm := range r.machines {
		targets = append(targets, vm.targets...)
	}
	return targets
}

// receive compares what a machine has written.
func (r *run) receive(vm *machine, result jvm.Result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sent[result.ID]
	if r.Usual(s.from, &s.body) {
		r.size(vm, s.body.Response, result.Targets)
	}
	r.compare(s.from, s.body, vm.targets, func(i int) *jvm.Encoded { return &result.Targets[i] })
}

// size counts the sizes of a body of which the most frequent one is wanted.
func (r *run) size(vm *machine, response bool, encoded []jvm.Encoded) {
	side := 0
	if response {
		side = 1
	}
	for i, t := range vm.targets {
		if encoded[i].Cause != "" {
			continue
		}
		if r.Sizes[t] == nil {
			r.Sizes[t] = &[2]map[int]int{{}, {}}
		}
		r.Sizes[t][side][encoded[i].Bytes]++
	}
}

// compare compares a body in targets with what was logged of the same message.
func (r *run) compare(from *Capture, body Body, targets []string, encoded func(i int) *jvm.Encoded) {
	for i, t := range targets {
		want, ok := r.logged[[2]string{from.Workload, t}][body.Key]
		if !ok {
			continue
		}
		key := Key{from.Workload, from.Serialization, t}
		cell := r.cells[key]
		if cell == nil {
			cell = &Cell{Causes: map[string]int{}}
			r.cells[key] = cell
		}
		e := encoded(i)
		cell.Bodies++
		switch {
		case e.Cause != "":
			cell.Causes[shorten(e.Cause)]++
			continue
		case e.Bytes != want.Bytes:
			cell.Apart += max(e.Bytes-want.Bytes, want.Bytes-e.Bytes)
			if len(cell.Examples) < r.Examples {
				cell.Examples = append(cell.Examples, fmt.Sprintf("%+d of %d bytes: %.300s", e.Bytes-want.Bytes, want.Bytes, body.Key))
			}
		default:
			cell.Equal++
			if hex.EncodeToString(e.Hash[:]) == want.SHA256 {
				cell.Same++
			}
		}
		cell.Bytes += want.Bytes
	}
}

// shorten returns a cause without the path of the value, so that equal ones are counted together.
func shorten(cause string) string {
	if path, rest, ok := strings.Cut(cause, ": "); ok && strings.ContainsAny(path, "[.") && !strings.Contains(path, " ") {
		cause = rest
	}
	return fmt.Sprintf("%.160s", cause)
}

// Keys returns the keys of cells of a workload in the order of their names.
func Keys(cells map[Key]*Cell, workload string) (keys []Key) {
	for k := range cells {
		if k.Workload == workload {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, func(a, b Key) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Target, b.Target))
	})
	return keys
}

// Table returns a figure of each cell of a workload, one row a source.
func Table(cells map[Key]*Cell, workload string, figure func(*Cell) string) string {
	var sources, targets []string
	for _, k := range Keys(cells, workload) {
		if !slices.Contains(sources, k.Source) {
			sources = append(sources, k.Source)
		}
		if !slices.Contains(targets, k.Target) {
			targets = append(targets, k.Target)
		}
	}
	slices.Sort(targets)
	var b strings.Builder
	fmt.Fprintf(&b, "| from | %s |\n| --- |%s\n", strings.Join(targets, " | "), strings.Repeat(" ---: |", len(targets)))
	for _, s := range sources {
		fmt.Fprintf(&b, "| %s |", s)
		for _, t := range targets {
			text := ""
			if c := cells[Key{workload, s, t}]; c != nil {
				text = figure(c)
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
