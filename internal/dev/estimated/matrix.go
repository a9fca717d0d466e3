package estimated

import (
	"context"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"dubbo-wire/internal/estimate/helper"
	"dubbo-wire/internal/estimate/jvm"
)

// Capture is a capture of a workload in one serialization.
type Capture struct {
	Name, Serialization string
	File, Truth         string
}

// Cell compares the estimates from one source in one target with the capture of the target.
type Cell struct {
	Source, Target string
	// Bodies are those of the source that have a partner in the target's capture, Equal those whose estimate has its size, Same its bytes.
	Bodies, Equal, Same int
	// Apart is the sum of differences in size, in bytes, and Bytes that of the captured sizes.
	Apart, Bytes int
	// Causes are those of bodies with a partner that have no estimate, Examples some of those with another size.
	Causes   map[string]int
	Examples []string
}

// Matrix estimates each source in the serializations of all captures, which are of the same calls and the same release.
type Matrix struct {
	Java      string
	ClassPath []string // jars of the release
	UserPath  []string // jars of the application
	// Registered are the classes that the application registers.
	Registered []string
	Captures   []Capture
	// Examples is how many differences a cell keeps.
	Examples int
}

// Run returns the cells, by source and target.
func (m *Matrix) Run(ctx context.Context, sources []string) (map[[2]string]*Cell, error) {
	logged := map[string]map[string]Body{} // by capture and key
	var targets []string
	for _, c := range m.Captures {
		bodies, err := Logged(c.Truth)
		if err != nil {
			return nil, err
		}
		byKey := map[string]Body{}
		for _, b := range bodies {
			byKey[b.Key] = b
		}
		logged[c.Serialization] = byKey
		targets = append(targets, c.Serialization)
	}
	slices.Sort(targets)
	cells := map[[2]string]*Cell{}
	for _, c := range m.Captures {
		if len(sources) > 0 && !slices.Contains(sources, c.Serialization) {
			continue
		}
		for _, t := range targets {
			cells[[2]string{c.Serialization, t}] = &Cell{Source: c.Serialization, Target: t, Causes: map[string]int{}}
		}
		if err := m.estimate(ctx, c, targets, logged, cells); err != nil {
			return cells, fmt.Errorf("%s: %w", c.Name, err)
		}
	}
	return cells, nil
}

func (m *Matrix) estimate(ctx context.Context, c Capture, targets []string, logged map[string]map[string]Body, cells map[[2]string]*Cell) error {
	bodies, err := Logged(c.Truth)
	if err != nil {
		return err
	}
	messages, err := Messages(c.File, m.UserPath...)
	if err != nil {
		return err
	}
	byID := map[int64]Body{}
	var records [][]byte
	for i := range messages {
		msg := &messages[i]
		b, ok := bodies[msg.Place]
		if !ok {
			continue
		}
		if msg.Cause != "" {
			for _, t := range targets {
				if _, ok := logged[t][b.Key]; ok {
					cell := cells[[2]string{c.Serialization, t}]
					cell.Bodies++
					cell.Causes["not sent: "+shorten(msg.Cause)]++
				}
			}
			continue
		}
		byID[msg.Record.ID] = b
		records = append(records, msg.Record.Append(nil))
	}
	child, err := jvm.Start(ctx, jvm.Config{
		Source: helper.Source, Java: m.Java, ClassPath: m.ClassPath, UserPath: m.UserPath, Registered: m.Registered, Targets: targets, MaxBody: 16 << 20,
	}, func(r jvm.Result) {
		b := byID[r.ID]
		for i := range r.Targets {
			want, ok := logged[targets[i]][b.Key]
			if !ok {
				continue
			}
			cell, e := cells[[2]string{c.Serialization, targets[i]}], &r.Targets[i]
			cell.Bodies++
			if e.Cause != "" {
				cell.Causes[shorten(e.Cause)]++
				continue
			}
			cell.Bytes += want.Bytes
			if e.Bytes != want.Bytes {
				cell.Apart += max(e.Bytes-want.Bytes, want.Bytes-e.Bytes)
				if len(cell.Examples) < m.Examples {
					cell.Examples = append(cell.Examples, fmt.Sprintf("%+d of %d bytes: %.300s", e.Bytes-want.Bytes, want.Bytes, b.Key))
				}
				continue
			}
			cell.Equal++
			if hex.EncodeToString(e.Hash[:]) == want.SHA256 {
				cell.Same++
			}
		}
	})
	if err != nil {
		return err
	}
	for _, r := range records {
		if err := child.Send(r); err != nil {
			return err
		}
	}
	_, err = child.Finish()
	return err
}

// shorten returns a cause without the path of the value, so that equal ones are counted together.
func shorten(cause string) string {
	if path, rest, ok := strings.Cut(cause, ": "); ok && strings.ContainsAny(path, "[.") && !strings.Contains(path, " ") {
		cause = rest
	}
	return fmt.Sprintf("%.160s", cause)
}

// Table returns the shares of equal sizes, one row a source.
func Table(cells map[[2]string]*Cell) string {
	var sources, targets []string
	for k := range cells {
		if !slices.Contains(sources, k[0]) {
			sources = append(sources, k[0])
		}
		if !slices.Contains(targets, k[1]) {
			targets = append(targets, k[1])
		}
	}
	slices.Sort(sources)
	slices.Sort(targets)
	var b strings.Builder
	fmt.Fprintf(&b, "| from | %s |\n| --- |%s\n", strings.Join(targets, " | "), strings.Repeat(" ---: |", len(targets)))
	for _, s := range sources {
		fmt.Fprintf(&b, "| %s |", s)
		for _, t := range targets {
			c := cells[[2]string{s, t}]
			switch {
			case c == nil || c.Bodies == 0:
				b.WriteString(" - |")
			case c.Equal == c.Bodies:
				fmt.Fprintf(&b, " all %d |", c.Bodies)
			default:
				fmt.Fprintf(&b, " %d of %d |", c.Equal, c.Bodies)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Captured returns a capture of folder dir.
func Captured(dir, name, serialization string) Capture {
	return Capture{
		Name: name, Serialization: serialization,
		File: filepath.Join(dir, name+".pcap.zst"), Truth: filepath.Join(dir, name+".truth.jsonl.zst"),
	}
}
