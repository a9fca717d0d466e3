package traffic

import (
	"encoding/json"
	"os"
)

// version changes with what Write writes for a Config: a capture of another version is made again.
const version = 2

// Truth is what is in a capture, as counted by who wrote it.
type Truth struct {
	Version int
	Config

	SHA256                      string
	FileBytes                   int64
	Packets, LinkBytes          int64
	Retransmissions, Swapped    int64
	Frames, Requests, Responses int64
	RequestBytes, ResponseBytes int64 // of bodies
	Methods                     []Method
}

// Method is the share of one method.
type Method struct {
	Service, Method             string
	Requests, Responses         int64
	RequestBytes, ResponseBytes int64 // of bodies
}

// TruthFile is the name of the file with the truth about a capture.
func TruthFile(capture string) string { return capture + ".truth.json" }

// WriteFile writes a capture, and its truth beside it.
func WriteFile(path string, cfg Config) (*Truth, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	t, err := Write(f, cfg)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(t, "", "  ")
	if err != nil {
		return nil, err
	}
	return t, os.WriteFile(TruthFile(path), append(b, '\n'), 0o644)
}

// ReadTruth returns the truth about the capture at path if that was written for cfg by this version, else nil.
func ReadTruth(path string, cfg Config) *Truth {
	b, err := os.ReadFile(TruthFile(path))
	if err != nil {
		return nil
	}
	t := new(Truth)
	if json.Unmarshal(b, t) != nil || t.Version != version || t.Config != cfg.withDefaults() {
		return nil
	}
	if info, err := os.Stat(path); err != nil || info.Size() != t.FileBytes {
		return nil
	}
	return t
}
