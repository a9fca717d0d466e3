// Gencapture writes a capture of Dubbo traffic for benchmarks, and the truth about it beside it:
//
//	go run ./internal/dev/bench/gencapture -o trace.pcap -size 100MB
//	go run ./internal/dev/bench/gencapture -o trace.pcap -size 60MB -repeat testdata/captures/fleet.pcap.zst,testdata/captures/rest-3.3.6.pcap.zst
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strings"

	"dubbo-wire/internal/dev/bench/traffic"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "gencapture:", err)
		os.Exit(1)
	}
}

func run() error {
	var cfg traffic.Config
	out := flag.String("o", "", "the `FILE` to write; FILE.truth.json comes beside it")
	traffic.SizeVar(&cfg.Size, "how large it shall be, like 100MB (default 1GB)")
	flag.StringVar(&cfg.Mix, "mix", "default", "what the traffic consists of: "+mixes())
	flag.IntVar(&cfg.Connections, "connections", 64, "how many are open at once")
	copies := flag.Bool("copies", false, "also write copies as pcapng and with zstd and gzip: FILE.pcapng, FILE.zst, FILE.gz")
	repeat := flag.String("repeat", "", "captures, separated by commas, that are written again and again instead, with other addresses and without the truth")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 || cfg.Connections < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if *repeat != "" {
		packets, err := traffic.Repeat(*out, cmp.Or(cfg.Size, 1e9), strings.Split(*repeat, ","))
		if err == nil {
			fmt.Printf("%s: %d packets\n", *out, packets)
		}
		return err
	}
	t, err := traffic.WriteFile(*out, cfg)
	if err != nil {
		return err
	}
	if *copies {
		for end, write := range forms {
			if err := write(*out, *out+end); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%s: %d bytes, %d packets (%d sent again, %d swapped), %d frames on %d connections\n",
		*out, t.FileBytes, t.Packets, t.Retransmissions, t.Swapped, t.Frames, t.Connections)
	return nil
}

func mixes() string {
	var all []string
	for _, m := range traffic.Mixes {
		all = append(all, m.Name+" ("+m.Text+")")
	}
	return strings.Join(all, ", ")
}
