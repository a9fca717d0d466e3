package org.dubbowire.rig.run;

import org.dubbowire.rig.truth.SocketTruth;

/** Runs the workloads named on the command line, says DONE, and stays connected until its standard input ends. */
public final class Consumer {
    private Consumer() {
    }

    public static void main(String[] args) throws Exception {
        SocketTruth.install();
        System.out.println("CONSUMER dubbo " + Peer.CURRENT.version());
        for (String workload : args) {
            int at = workload.indexOf('@'); // published@tri: not in the protocol of the settings
            Remote.protocol = at < 0 ? Settings.PROTOCOL : workload.substring(at + 1);
            String name = at < 0 ? workload : workload.substring(0, at);
            switch (name) {
                case "published" -> Published.run();
                case "undated" -> Published.undated();
                case "bid" -> Published.bid();
                case "some-users" -> Published.someUsers();
                case "edge" -> Edge.run();
                case "conditions" -> Conditions.run();
                case "interleaved" -> Interleaved.run();
                case "mixed" -> Mixed.run();
                case "exhausted" -> Exhausted.run();
                case "failover" -> Failover.run();
                case "fleet" -> Fleet.run();
                case "load" -> Load.run();
                case "churn" -> Churn.shortLived();
                case "broken" -> Churn.broken();
                case "session" -> Session.run();
                case "once" -> Session.once();
                case "protobuf" -> Protobuf.run();
                case "idle" -> Thread.sleep(3L * Settings.HEARTBEAT);
                default -> Extra.named(name).run();
            }
        }
        System.out.println("DONE " + Step.summary());
        while (System.in.read() >= 0) {
            // the provider leaves first, so that its farewell is in the capture
        }
        System.exit(0);
    }
}
