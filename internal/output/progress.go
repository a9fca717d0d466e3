package output

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"dubbo-wire/internal/report"
)

// Progress is a line on the terminal that shows how much of the input was read. Each line replaces the one before in one
// write, so that it neither flickers nor scrolls, and the last one is removed. A goroutine prints it, so that it also shows
// when no input comes.
type Progress struct {
	src   Source
	out   io.Writer
	width func() int // of the terminal, in columns
	start time.Time
	shown int // columns of the printed line
	// past has the recent measurements, the oldest first, for the rate.
	past []moment
	end  chan struct{}
	gone chan struct{}
}

type moment struct {
	at   time.Time
	read int64
}

const (
	progressWait  = time.Second            // a shorter run shows no progress
	progressEvery = 200 * time.Millisecond // between two lines
	progressRate  = 5 * time.Second        // the window of the rate
)

// Source reports how many bytes were read, and of how many. A total of 0 or less is unknown.
type Source interface{ Progress() (read, total int64) }

// NewProgress shows the progress of src on the terminal w until Done is called. It shows nothing if w is not a terminal, or
// with quiet.
func NewProgress(w io.Writer, quiet bool, src Source) *Progress {
	p := NewStatus(w, quiet)
	if p.out != nil {
		p.src, p.start, p.end, p.gone = src, time.Now(), make(chan struct{}), make(chan struct{})
		go p.run()
	}
	return p
}

// NewStatus returns a line on the terminal w, for Show. It shows nothing if w is not a terminal, or with quiet.
func NewStatus(w io.Writer, quiet bool) *Progress {
	if quiet || !IsTerminal(w) {
		return &Progress{}
	}
	f := w.(*os.File)
	return &Progress{out: f, width: func() int { return cmp.Or(columns(f), 80) }}
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

// text returns the line.
func (p *Progress) text() string {
	read, total := p.src.Progress()
	first, last := p.past[0], p.past[len(p.past)-1]
	rate := 0.0 // bytes per second
	if d := last.at.Sub(first.at).Seconds(); d > 0 {
		rate = float64(last.read-first.read) / d
	}
	speed := ", " + report.Volume(int64(rate)) + "/s"
	if total <= 0 {
		return "reading: " + report.Volume(read) + speed
	}
	text := "reading: " + ReadOf(read, total) + speed
	if left := float64(max(total-read, 0)); rate > 0 && left/rate < 100*3600 {
		text += ", " + leftText(time.Duration(left/rate*float64(time.Second))) + " left"
	}
	return text
}

// Show replaces the line with text; "" removes it.
func (p *Progress) Show(text string) {
	if p == nil || p.out == nil || p.shown == 0 && text == "" {
		return
	}
	// A text that fills the last column would wrap.
	text = text[:min(len(text), max(p.width()-1, 0))]
	over := "\r" + text + strings.Repeat(" ", max(p.shown-len(text), 0))
	if len(text) < p.shown {
		over += "\r" + text
	}
	p.shown = len(text)
	_, _ = io.WriteString(p.out, over)
}

// ReadOf formats how many bytes of the input were read, with a percentage. A total of 0 or less is unknown.
func ReadOf(n, total int64) string {
	if total <= 0 {
		return report.Volume(n)
	}
	return fmt.Sprintf("%s of %s (%d %%)", report.Volume(n), report.Volume(total), min(int64(float64(n)/float64(total)*100), 100))
}

// leftText formats a duration in seconds, minutes or hours.
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
