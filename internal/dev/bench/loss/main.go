// Loss is the loss experiment: it makes a capture, removes packets with payload at random, and compares what is found of
// the rest with what was sent, frame by frame. It ends with status 1 when a promise is broken:
//
//   - No frame is reported that was not sent, whatever bodies hold.
//   - Where bodies hold no frames, the frames found whole are exactly those of which no byte is missing.
//   - A frame whose header is there, at a place known by the lengths before it, is found.
//
// It does the same with Triple and gRPC over HTTP/2, also joined midway and with a snap length:
//
//   - No message is reported that was not sent, no call under another name, and no size that was not announced.
//   - Of the messages of which no byte is missing, 95 % are found if 1 % of the packets are removed.
//
// Nothing is promised of messages that hold frames of HTTP/2.
//
// What a loss costs in time is a row of the budget (internal/dev/bench/run).
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
	traffic.SizeVar(&size, "of the capture (default 100MB)")
	connections := flag.Int("connections", 64, "that are open at once")
	seeds := flag.Int("seeds", 3, "how often packets are removed")
	flag.Parse()

	broken, err := experiment(size, *connections, *seeds)
	if err != nil {
		return false, err
	}
	fmt.Println()
	more, err := http2Experiment(size, *connections, *seeds)
	if err != nil {
		return false, err
	}
	broken = append(broken, more...)
	for _, b := range broken {
		fmt.Println(b)
	}
	return len(broken) == 0, nil
}

// experiment prints the table of the dubbo protocol and returns the promises that are broken.
func experiment(size int64, connections, seeds int) (broken []string, err error) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer out.Flush()
	fmt.Fprintln(out, "bodies\tremoved %\tframes\tdamaged\tcomplete\tof\theader only\tof\tinvented\tskipped bytes\t%\t")
	for i := range bodies {
		k := &bodies[i]
		s, err := newScene(size, connections)
		if err != nil {
			return nil, err
		}
		k.write(s)
		for _, share := range shares {
			c, err := measure(s, k, share, seeds)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(out, "%s\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.3f\t\n", k.name, 100*share, c.frames, c.damaged,
				c.complete, c.undamaged, c.headers, c.headersKnown, c.invented, c.skipped, 100*float64(c.skipped)/float64(c.bytes))
			if b := c.broken(); b != "" {
				broken = append(broken, fmt.Sprintf("%s, %v %%: %s (%s)", k.name, 100*share, b, c.first))
			}
		}
	}
	return broken, nil
}

// http2Experiment is experiment for HTTP/2.
func http2Experiment(size int64, connections, seeds int) (broken []string, err error) {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer out.Flush()
	fmt.Fprintln(out, "HTTP/2 messages\tdamage\tmessages\tdamaged\tfound\tof\t%\tcalls\twithout name\tmisnamed\tinvented\ttoo long\tskipped %\t")
	for i := range http2Bodies {
		k := &http2Bodies[i]
		s, err := newHTTP2Scene(size, connections)
		if err != nil {
			return nil, err
		}
		k.write(s)
		for j := range damages {
			d := &damages[j]
			c, err := measureHTTP2(s, k, d, seeds)
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(out, "%s\t%s\t%d\t%d\t%d\t%d\t%.2f\t%d\t%d\t%d\t%d\t%d\t%.3f\t\n", k.name, d.name, c.messages, c.damaged, c.found, c.undamaged,
				100*float64(c.found)/float64(max(1, c.undamaged)), c.calls, c.unnamed, c.misnamed, c.invented, c.tooLong, 100*float64(c.skipped)/float64(c.bytes))
			if b := c.broken(); b != "" {
				broken = append(broken, fmt.Sprintf("%s, %s: %s", k.name, d.name, b))
			}
		}
	}
	return broken, nil
}
