package capture

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Interfaces of a capture come and go. The kernel reports each change on its routing socket; then, at most once per
// refreshEvery, all interfaces are listed and compared with the known ones. If there is no routing socket, or while an
// interface is away, they are listed once per missingEvery.
const (
	refreshEvery = 100 * time.Millisecond
	missingEvery = time.Second
	// maxSeen bounds the interfaces that are remembered.
	maxSeen = 1024
)

// watch keeps the interfaces of a capture.
type watch struct {
	any    bool
	slots  []slot
	places map[int32]int // slot by interface number, including interfaces that are gone
	// The last result of places.
	lastIndex int32
	lastPlace int

	events  *os.File    // the routing socket; nil: there is none
	told    atomic.Bool // an event came
	stale   bool        // an interface has changed
	checked time.Time
}

type slot struct {
	InterfaceState
	loop    bool
	refused int // number of an interface with that name that cannot be captured together with the others
}

func newWatch(isAny bool) *watch {
	w := &watch{any: isAny, places: make(map[int32]int), lastIndex: -1, checked: time.Now()}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return w
	}
	if unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: unix.RTMGRP_LINK}) != nil {
		_ = unix.Close(fd)
		return w
	}
	w.events = os.NewFile(uintptr(fd), "routing socket")
	return w
}

func (w *watch) close() {
	if w.events != nil {
		_ = w.events.Close()
		w.events = nil
	}
}

// listen reads the routing socket until it is closed, and calls wake after events. The contents of the events are not needed.
func (w *watch) listen(wake func()) {
	if w.events == nil {
		return
	}
	go func(events *os.File) {
		var some [64]byte
		for {
			if _, err := events.Read(some[:]); err != nil && !errors.Is(err, unix.ENOBUFS) { // ENOBUFS: some events were lost
				return
			}
			if !w.told.Swap(true) {
				wake()
			}
		}
	}(w.events)
}

// add adds an existing interface and returns its slot.
func (w *watch) add(n *netLink) int {
	w.slots = append(w.slots, slot{
		InterfaceState: InterfaceState{Name: n.name, Up: n.up, Index: n.index},
		loop:           n.hatype == unix.ARPHRD_LOOPBACK,
	})
	w.places[int32(n.index)] = len(w.slots) - 1
	return len(w.slots) - 1
}

// addUnknown returns a slot for an interface that sends its first packet: that of a former interface with the same
// name, or a new one. If there are too many, the last slot stands for all others.
func (w *watch) addUnknown(index int32) int {
	if !w.any {
		return 0
	}
	found := netLink{index: int(index), name: fmt.Sprintf("interface %d", index)} // it is gone already
	if links, err := listLinks(); err == nil {
		if i := slices.IndexFunc(links, func(n netLink) bool { return n.index == int(index) }); i >= 0 {
			found = links[i]
		}
	}
	if len(w.places) >= 4*maxSeen {
		clear(w.places)
		for i := range w.slots {
			if !w.slots[i].Gone {
				w.places[int32(w.slots[i].Index)] = i
			}
		}
	}
	i := slices.IndexFunc(w.slots, func(s slot) bool { return s.Gone && s.Name == found.name })
	switch {
	case i >= 0:
		w.slots[i].InterfaceState = InterfaceState{Name: found.name, Up: found.up, Index: found.index}
	case len(w.slots) < maxSeen:
		return w.add(&found)
	default:
		i = maxSeen - 1
		w.slots[i].Name = "others"
	}
	w.places[index] = i
	return i
}

// due reports whether the interfaces should be listed now.
func (w *watch) due(now time.Time) bool {
	since := now.Sub(w.checked)
	if w.stale && since >= refreshEvery {
		return true
	}
	if since < missingEvery {
		return false
	}
	return w.events == nil || !w.any && slices.ContainsFunc(w.slots, func(s slot) bool { return !s.Up })
}

// waitAtMost returns how long to wait, at most d, until the interfaces should be listed.
func (w *watch) waitAtMost(now time.Time, d time.Duration) time.Duration {
	if w.stale {
		d = min(d, max(w.checked.Add(refreshEvery).Sub(now), time.Millisecond))
	}
	return d
}

// readEvents notes whether events came.
func (w *watch) readEvents() {
	if w.told.Load() && w.told.Swap(false) {
		w.stale = true
	}
}

// change is a difference that refresh has found.
type change struct {
	place    int
	was, now InterfaceState
	link     LinkType
}

// refresh lists the interfaces and returns what has changed. A capture of AnyInterface ignores the changes.
func (w *watch) refresh(now time.Time) []change {
	w.checked, w.stale = now, false
	links, err := listLinks()
	if err != nil {
		w.stale = true
		return nil
	}
	var changes []change
	for i := range w.slots {
		s := &w.slots[i]
		was := s.InterfaceState
		k := slices.IndexFunc(links, func(n netLink) bool { return n.index == s.Index && s.Index > 0 })
		if k < 0 && !w.any {
			k = slices.IndexFunc(links, func(n netLink) bool { return n.name == s.Name && n.index != s.refused })
		}
		if k < 0 {
			s.Up, s.Gone, s.Index = false, true, 0
		} else {
			s.Up, s.Gone, s.Index = links[k].up, false, links[k].index
		}
		if s.InterfaceState != was {
			c := change{place: i, was: was, now: s.InterfaceState}
			if k >= 0 {
				c.link = links[k].link()
				w.places[int32(s.Index)] = i
			}
			changes = append(changes, c)
		}
	}
	w.lastIndex = -1
	return changes
}
