// Loss is the loss experiment: it makes a capture, removes packets with payload at random, and compares what is found of
// the rest with what was sent, frame by frame. It ends with status 1 when a promise is broken:
//
//   - No frame is reported that was not sent, whatever bodies hold.
//   - Where bodies hold no frames, the frames found whole are exactly those of which no byte is missing.
//   - A frame whose header is there, at a place known by the lengths before it, is found.
//
// It prints the time, too, without judging it: that is the budget's (internal/dev/bench/run), on a file as users have it.
package main

import (
	"flag"
	"fmt"
	"os"
	"text/tabwriter"

	"dubbo-wire/internal/dev/bench/traffic"
)

// shares of the packets with payload that are removed.
var shares = []float64{0.0001, 0.001, 0.01}

func main() {
	ok, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "loss:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

func run() (ok bool, err error) {
	size := int64(100e6)
	flag.Func("size", "of the capture (default 100MB)", func(s string) (err error) {
		size, err = traffic.ParseSize(s)
		return err
	})
	connections := flag.Int("connections", 64, "that are open at once")
	seeds := flag.Int("seeds", 3, "how often packets are removed")
	times := flag.Int("times", 3, "how often each run is timed")
	flag.Parse()

	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "bodies\tremoved %\tframes\tdamaged\tcomplete\tof\theader only\tof\tinvented\tskipped bytes\t%\ttime\t")
	ok = true
	var broken []string
	for i := range bodies {
		k := &bodies[i]
		s, err := newScene(size, *connections)
		if err != nil {
			return false, err
		}
		k.write(s)
		for _, share := range shares {
			c, err := measure(s, k, share, *seeds, *times)
			if err != nil {
				return false, err
			}
			fmt.Fprintf(out, "%s\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t×%.2f\t\n", k.name, 100*share, c.frames, c.damaged,
				c.complete, c.undamaged, c.headers, c.headersKnown, c.invented, c.skipped, 100*float64(c.skipped)/float64(c.bytes),
				float64(c.time)/float64(max(1, c.plain)))
			if b := c.broken(); b != "" {
				broken = append(broken, fmt.Sprintf("%s, %v %%: %s (%s)", k.name, 100*share, b, c.first))
			}
		}
	}
	_ = out.Flush()
	for _, b := range broken {
		fmt.Println(b)
	}
	return len(broken) == 0, nil
}
