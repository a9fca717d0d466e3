package output

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	xterm "golang.org/x/term"

	"dubbo-wire/internal/term"
)

// Progress is a line on the terminal that says how far reading has come, for work that takes long. It is written over
// itself, in one piece, so that it neither flickers nor scrolls, and is gone when the work is done. It lives in a
// goroutine of its own: it also shows that nothing comes.
type Progress struct {
	src   Source
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

// Source is what progress is shown of: how many bytes were read, of how many; total is 0 or less where that is not known.
type Source interface{ Progress() (read, total int64) }

// NewProgress shows the progress of src on the terminal that w is until Done is called. Where w is no terminal, or quiet, nothing
// is shown.
func NewProgress(w io.Writer, quiet bool, src Source) *Progress {
	p := NewStatus(w, quiet)
	if p.out != nil {
		p.src, p.start, p.end, p.gone = src, time.Now(), make(chan struct{}), make(chan struct{})
		go p.run()
	}
	return p
}

// NewStatus returns a line on the terminal that w is, for Show. Where w is no terminal, or quiet, nothing is shown.
func NewStatus(w io.Writer, quiet bool) *Progress {
	if quiet || !IsTerminal(w) {
		return &Progress{}
	}
	f := w.(*os.File)
	return &Progress{out: f, width: func() int {
		if w, _, err := xterm.GetSize(int(f.Fd())); err == nil && w > 0 {
			return w
		}
		return 80
	}}
}

func (p *Progress) run() {
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
				p.Show(p.text())
			}
		case <-p.end:
			p.Show("")
			return
		}
	}
}

// Done removes the line.
func (p *Progress) Done() {
	if p.end != nil {
		close(p.end)
		<-p.gone
		p.end = nil
	}
}

// text words the progress.
func (p *Progress) text() string {
	read, total := p.src.Progress()
	first, last := p.past[0], p.past[len(p.past)-1]
	rate := 0.0 // bytes a second
	if d := last.at.Sub(first.at).Seconds(); d > 0 {
		rate = float64(last.read-first.read) / d
	}
	speed := ", " + term.Bytes(int64(rate)) + "/s"
	if total <= 0 {
		return "reading: " + term.Bytes(read) + speed
	}
	text := "reading: " + term.BytesOf(read, total) + speed
	if left := float64(max(total-read, 0)); rate > 0 && left/rate < 100*3600 {
		text += ", " + leftText(time.Duration(left/rate*float64(time.Second))) + " left"
	}
	return text
}

// Show writes text over the line that is there; "" removes it.
func (p *Progress) Show(text string) {
	if p == nil || p.out == nil || p.shown == 0 && text == "" {
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
