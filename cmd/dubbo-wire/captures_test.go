package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// provenance is what is known of a committed capture.
type provenance struct {
	Name, File, LinkType string
	Complete             bool
	Packets              int64
	FramesSent           map[string]int64
	// Protocols is what is in a capture where it is not Dubbo's own alone.
	Protocols []string
}

// foreign reports whether nothing in the capture is the Dubbo protocol.
func (p *provenance) foreign() bool {
	return len(p.Protocols) > 0 && !slices.Contains(p.Protocols, "dubbo")
}

func provenances(dir string) ([]provenance, error) {
	b, err := os.ReadFile(filepath.Join(dir, "provenance.json"))
	if err != nil {
		return nil, err
	}
	var all []provenance
	return all, json.Unmarshal(b, &all)
}

// readCapture returns a committed capture, decompressed.
func readCapture(dir, name string) ([]byte, error) {
	all, err := provenances(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Name == name {
			return decompressed(filepath.Join(dir, p.File))
		}
	}
	return nil, os.ErrNotExist
}

func decompressed(file string) ([]byte, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(file) {
	case ".zst":
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		defer z.Close()
		return io.ReadAll(z)
	case ".gz":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	}
	return data, nil
}

func parseReport(b []byte) (*jsonReport, error) {
	r := new(jsonReport)
	return r, json.Unmarshal(b, r)
}
