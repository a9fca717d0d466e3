package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"dubbo-wire/internal/capture"
)

// progress shows how far reading has come, on a terminal and only for work that takes long.
type progress struct {
	src   *capture.Files
	bar   *progressbar.ProgressBar
	start time.Time
	last  time.Time
	on    bool
	err   *os.File
}

func newProgress(s *streams, quiet bool, src *capture.Files) *progress {
	f, ok := s.err.(*os.File)
	return &progress{src: src, start: time.Now(), on: !quiet && ok && term.IsTerminal(int(f.Fd())), err: f}
}

// update is cheap enough to be called once per thousand packets.
func (p *progress) update() {
	if !p.on {
		return
	}
	now := time.Now()
	if now.Sub(p.start) < time.Second || now.Sub(p.last) < 200*time.Millisecond {
		return
	}
	p.last = now
	read, total := p.src.Progress()
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(total,
			progressbar.OptionSetWriter(p.err), progressbar.OptionShowBytes(true), progressbar.OptionSetDescription("reading"),
			progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	}
	_ = p.bar.Set64(read)
}

func (p *progress) done() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
