package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Node;

/**
 * One application among several: it calls some providers in some serializations, round after round, while the others do
 * the same. rig.targets is "host=serialization,serialization;host=..."; those with "!" behind them get connections of
 * their own, the others of a host share one.
 */
final class Fleet {
    private final String name;
    private final EchoService echo;
    private final UserService users;
    private final com.github.smartbuf.dubbo.UserService posts;
    private final EdgeService edge;

    private Fleet(String host, String serialization) {
        name = host + " " + serialization;
        echo = refer(EchoService.class, host, serialization);
        users = refer(UserService.class, host, serialization);
        posts = refer(com.github.smartbuf.dubbo.UserService.class, host, serialization);
        edge = refer(EdgeService.class, host, serialization);
    }

    private static <T> T refer(Class<T> type, String host, String serialization) {
        Remote<T> remote = Remote.of(type).host(host);
        return serialization.endsWith("!") ? remote.serialization(serialization.substring(0, serialization.length() - 1)).connections(1).get()
            : remote.serialization(serialization).get();
    }

    static void run() throws Exception {
        List<Fleet> targets = new ArrayList<>();
        for (String target : System.getProperty("rig.targets").split(";")) {
            String[] parts = target.split("=");
            for (String serialization : parts[1].split(",")) {
                targets.add(new Fleet(parts[0], serialization));
            }
        }
        System.out.println("CONNECTED");
        Path gate = Path.of(System.getProperty("rig.gate"));
        while (!Files.exists(gate)) { // all start together
            Thread.sleep(20);
        }
        for (int round = 0; round < 8; round++) {
            for (Fleet target : targets) {
                target.round(round);
                Thread.sleep(Settings.PAUSE);
            }
        }
        if (Boolean.getBoolean("rig.fleet.telnet")) {
            Edge.telnet();
        }
        Thread.sleep(2L * Math.min(Settings.HEARTBEAT, 1500)); // time for heartbeats
    }

    private void round(int round) {
        Step.run(name + " bid", () -> echo.bid(Data.bid()));
        Step.run(name + " existUser", () -> users.existUser("jdoe" + round));
        Step.run(name + " getUser", () -> users.getUser(-round - 1L)); // undated: some of the serializations are older than java.time
        Step.run(name + " createUser", () -> users.createUser(Data.undated(Data.user(round, ""))));
        Step.run(name + " echoNode", () -> edge.echoNode(new Node(round, name)));
        Step.run(name + " add", () -> edge.add(round, -round));
        Step.run(name + " tiny", () -> posts.tiny("x".repeat(round)));
        Step.run(name + " attachments", () -> {
            Peer.CURRENT.attach("trace.id", "0af7651916cd43dd" + round);
            edge.ping();
        });
        if (round == 2) {
            Step.run(name + " listUser", () -> users.listUser(-1));
            Step.run(name + " posts", () -> posts.queryPost("dubbo"));
        }
        if (round % 3 == 1) {
            Step.fails(name + " fail", () -> edge.fail("runtime"));
        }
    }
}
