// Package e2e runs real Dubbo peers (testdata/rig) in network namespaces together with dubbo-wire and tcpdump, and returns
// what the peers sent according to their own log. The tests compare that with dubbo-wire's live reports; the program in soak
// measures its memory and processor time for hours. A Bed owns the namespaces, the processes and the folder of a run; Close
// removes all of them, and the next run removes those of a killed one. The package reads no packets: it compares the output
// of the programs with the log of the Java side.
package e2e
