package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"dubbo-wire/internal/capture"
)

// progress is a line on the terminal that says how far reading has come, for work that takes long. It is written over
// itself, in one piece, so that it neither flickers nor scrolls, and is gone when the work is done. It lives in a
// goroutine of its own: it also shows that nothing comes.
type progress struct {
	src   interface{ Progress() (read, total int64) }
	out   io.Writer
	width func() int // of the terminal, in columns
	start time.Time
	shown int // columns of the line that is there
	// past is where reading was at the last moments it was looked at, the oldest first: they make the rate.
	past []moment
	end  chan struct{}
	gone chan struct{}
}

type moment struct {
	at   time.Time
	read int64
}

const (
	progressWait  = time.Second            // what is done before it shows no progress
	progressEvery = 200 * time.Millisecond // how often it is shown
	progressRate  = 5 * time.Second        // over which the rate is taken
)

// newProgress shows the progress of src until done is called, if standard error is a terminal.
func newProgress(s *streams, quiet bool, src *capture.Files) *progress {
	f, ok := s.err.(*os.File)
	if quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	p := &progress{src: src, out: f, start: time.Now(), end: make(chan struct{}), gone: make(chan struct{})}
	p.width = func() int {
		w, _, err := term.GetSize(int(f.Fd()))
		if err != nil || w <= 0 {
			return 80
		}
		return w
	}
	go p.run()
	return p
}

func (p *progress) run() {
	defer close(p.gone)
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			read, _ := p.src.Progress()
			p.past = append(p.past, moment{now, read})
			for len(p.past) > 2 && now.Sub(p.past[0].at) > progressRate {
				p.past = p.past[1:]
			}
			if now.Sub(p.start) >= progressWait {
				p.show(p.text())
			}
		case <-p.end:
			p.show("")
			return
		}
	}
}

// done removes the line.
func (p *progress) done() {
	if p.end != nil {
		close(p.end)
		<-p.gone
		p.end = nil
	}
}

// text words the progress.
func (p *progress) text() string {
	read, total := p.src.Progress()
	first, last := p.past[0], p.past[len(p.past)-1]
	rate := 0.0 // bytes a second
	if d := last.at.Sub(first.at).Seconds(); d > 0 {
		rate = float64(last.read-first.read) / d
	}
	speed := ", " + bytesText(int64(rate)) + "/s"
	if total <= 0 {
		return "reading: " + bytesText(read) + speed
	}
	text := "reading: " + readOf(read, total) + speed
	if left := float64(max(total-read, 0)); rate > 0 && left/rate < 100*3600 {
		text += ", " + leftText(time.Duration(left/rate*float64(time.Second))) + " left"
	}
	return text
}

// show writes text over the line that is there.
func (p *progress) show(text string) {
	if p.shown == 0 && text == "" {
		return
	}
	// A line that fills the terminal would begin the next one.
	text = text[:min(len(text), max(p.width()-1, 0))]
	over := "\r" + text + strings.Repeat(" ", max(p.shown-len(text), 0))
	if len(text) < p.shown {
		over += "\r" + text
	}
	p.shown = len(text)
	_, _ = io.WriteString(p.out, over)
}

// readOf words how much of the inputs was read, both as they lie on disk.
func readOf(read, total int64) string {
	if total <= 0 {
		return bytesText(read)
	}
	return fmt.Sprintf("%s of %s (%d %%)", bytesText(read), bytesText(total), min(int64(float64(read)/float64(total)*100), 100))
}

// bytesText is a number of bytes with three digits, in decimal units.
func bytesText(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	v, u := float64(n), 0
	for v >= 999.5 && u < len(units)-1 {
		v /= 1000
		u++
	}
	digits := 0
	if u > 0 && v < 99.95 {
		digits = 1
	}
	if u > 0 && v < 9.995 {
		digits = 2
	}
	return fmt.Sprintf("%.*f %s", digits, v, units[u])
}

// leftText is a duration as people say it.
func leftText(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d:%02d min", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d h", s/3600, s/60%60)
}
