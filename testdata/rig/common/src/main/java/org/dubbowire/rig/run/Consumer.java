package org.dubbowire.rig.run;

/** Runs the workloads named on the command line, says DONE, and stays connected until its standard input ends. */
public final class Consumer {
    private Consumer() {
    }

    public static void main(String[] args) throws Exception {
        System.out.println("CONSUMER dubbo " + Peer.CURRENT.version());
        for (String workload : args) {
            switch (workload) {
                case "published" -> Published.run();
                case "undated" -> Published.undated();
                case "bid" -> Published.bid();
                case "edge" -> Edge.run();
                case "conditions" -> Conditions.run();
                case "interleaved" -> Interleaved.run();
                case "mixed" -> Mixed.run();
                case "exhausted" -> Exhausted.run();
                case "load" -> Load.run();
                case "protobuf" -> Protobuf.run();
                case "idle" -> Thread.sleep(3L * Settings.HEARTBEAT);
                default -> throw new IllegalArgumentException("unknown workload " + workload);
            }
        }
        System.out.println("DONE " + Step.summary());
        while (System.in.read() >= 0) {
            // the provider leaves first, so that its farewell is in the capture
        }
        System.exit(0);
    }
}
