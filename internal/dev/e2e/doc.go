// Package e2e puts real Dubbo peers (testdata/rig) into network namespaces, runs dubbo-wire and tcpdump beside them, and
// says what the peers sent by their own log. The tests here compare that with dubbo-wire's live reports; the program in
// soak watches its memory and its processor time for long.
//
// A Bed owns the namespaces, the processes and the folder of a run. Close ends and removes all of them; what a killed run
// has left behind, the next one removes. Nothing here reads a packet: whatever is compared comes from the programs'
// output and from the Java side.
package e2e
