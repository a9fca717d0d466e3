// Package screen draws a running capture as a full-screen table on a terminal. Snapshots of package live and keys come
// in; lines of the terminal, and settings for the pipeline, go out. It knows neither packets nor formats.
//
// A model is a value; its update and its view are pure functions of messages, so tests can compare what they draw.
// Screen surrounds it: it may be used by any goroutine and never blocks the pipeline.
//
// A snapshot must not be changed after it was shown; the screen only reads it. The terminal is driven by
// charm.land/bubbletea.
package screen

import (
	"io"
	"os"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"dubbo-wire/internal/live"
)

// Options configures a screen.
type Options struct {
	Title  string    // the interface, "eth0"
	Filter string    // the kernel's filter as the user wrote it
	Input  io.Reader // keys; nil: there are none
	Output io.Writer
	Color  bool // colors and other attributes, unless the terminal is a dumb one
	// Environ is the environment that describes the terminal; nil: the environment of the process.
	Environ  []string
	Local    bool          // show local times
	Settings live.Settings // initial settings
}

// framesPerSecond is the largest number of frames per second.
const framesPerSecond = 10

// Screen is a live table on a terminal.
type Screen struct {
	options     Options
	testOptions []tea.ProgramOption

	mu       sync.Mutex
	settings live.Settings
	snap     *live.Snapshot // not drawn yet
	notices  []string       // not drawn yet

	wake     chan struct{}
	quit     chan struct{}
	quitOnce sync.Once
}

// New returns a screen that does not draw yet.
func New(o Options) *Screen {
	return &Screen{
		options: o, settings: o.Settings,
		wake: make(chan struct{}, 1), quit: make(chan struct{}),
	}
}

// Show hands over a newer snapshot. It never blocks: a snapshot that was not drawn yet is replaced. It may be called
// before and after Run.
func (s *Screen) Show(snap *live.Snapshot) {
	if snap == nil {
		return
	}
	s.mu.Lock()
	s.snap = snap
	s.mu.Unlock()
	s.wakeUp()
}

// Notice shows a sentence for some seconds and keeps it in the help.
func (s *Screen) Notice(text string) {
	s.mu.Lock()
	if len(s.notices) < noticesKept {
		s.notices = append(s.notices, text)
	}
	s.mu.Unlock()
	s.wakeUp()
}

// Settings returns the current settings of the user.
func (s *Screen) Settings() live.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Quit ends Run, or makes a later Run return at once.
func (s *Screen) Quit() { s.quitOnce.Do(func() { close(s.quit) }) }

// Run draws until the user or Quit ends it, and restores the terminal. Signals are left to the caller, except for
// changes of the terminal's size; Ctrl-C is a key that ends it.
func (s *Screen) Run() error {
	select {
	case <-s.quit:
		return nil
	default:
	}
	environ := s.options.Environ
	if environ == nil {
		environ = os.Environ()
	}
	profile := colorprofile.ASCII
	o := s.options
	if slices.Contains(environ, "TERM=dumb") {
		o.Color = false
	}
	if o.Color {
		profile = colorprofile.ANSI
	}
	options := append([]tea.ProgramOption{
		tea.WithoutSignalHandler(), tea.WithFPS(framesPerSecond), tea.WithInput(o.Input), tea.WithOutput(o.Output),
		tea.WithEnvironment(environ), tea.WithColorProfile(profile),
	}, s.testOptions...)

	m := newModel(o)
	m.now = time.Now()
	p := tea.NewProgram(program{screen: s, model: m}, options...)
	done := make(chan struct{})
	var feeding sync.WaitGroup
	feeding.Go(func() { s.feed(p, done) })
	_, err := p.Run()
	close(done)
	p.Kill() // releases goroutines that still send messages
	feeding.Wait()
	return err
}

// feed passes snapshots, notices and the time to the program, not faster than it draws.
func (s *Screen) feed(p *tea.Program, done <-chan struct{}) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-done:
			return
		case <-s.quit:
			p.Quit()
			return
		case now := <-second.C:
			p.Send(clockMsg(now))
			continue
		case <-s.wake:
		}
		s.mu.Lock()
		snap, notices := s.snap, s.notices
		s.snap, s.notices = nil, nil
		s.mu.Unlock()
		p.Send(clockMsg(time.Now()))
		for _, n := range notices {
			p.Send(noticeMsg(n))
		}
		if snap != nil {
			p.Send(snapshotMsg{snap})
		}
		select { // later ones come with the next frame
		case <-done:
			return
		case <-s.quit:
		case <-time.After(time.Second / framesPerSecond):
		}
	}
}

// publish stores the current settings for the pipeline.
func (s *Screen) publish(settings live.Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = settings
}

// wakeUp makes feed look for a snapshot and notices.
func (s *Screen) wakeUp() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// program is the model in the form that bubbletea runs.
type program struct {
	screen *Screen
	model  model
}

func (p program) Init() tea.Cmd { return nil }

func (p program) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	p.model = p.model.update(msg)
	p.screen.publish(p.model.settings)
	if p.model.quit {
		return p, tea.Quit
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+l" {
			return p, tea.ClearScreen
		}
	case tea.WindowSizeMsg:
		// The renderer assumes that columns which a terminal has gained are empty once it has drawn into them, and
		// would not erase what is there. Drawing everything again with the next frames corrects that.
		return p, tea.Tick(2*time.Second/framesPerSecond, func(time.Time) tea.Msg { return tea.ClearScreen() })
	}
	return p, nil
}

func (p program) View() tea.View {
	v := tea.NewView(p.model.view())
	v.AltScreen = true
	return v
}
