package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Node;
import org.dubbowire.rig.edge.Stranger;

/**
 * Traffic on request: each line of standard input is a round, NAME SERIALIZATION[,SERIALIZATION...] [ROUNDS]; when its last
 * connection is closed, the answer is the line DONE with its summary. So one consumer serves many captures, and
 * each of them can have its traffic from the first SYN to the last FIN. Every reference of a round has a connection of its own.
 */
final class Session {
    /** How often an idle connection is heard of in the round "heartbeats", in milliseconds. */
    private static final int HEARTBEAT = 1000;
    private final String serialization;
    private final int heartbeat;
    private final EchoService echo;
    private final UserService users;
    private final com.github.smartbuf.dubbo.UserService posts;
    private final EdgeService edge;

    private Session(String serialization, int heartbeat) {
        this.serialization = serialization;
        this.heartbeat = heartbeat;
        echo = own(EchoService.class).get();
        users = own(UserService.class).get();
        posts = own(com.github.smartbuf.dubbo.UserService.class).get();
        edge = own(EdgeService.class).get();
    }

    private <T> Remote<T> own(Class<T> type) {
        return Remote.of(type).serialization(serialization).parameter("heartbeat", Integer.toString(heartbeat)).connections(1);
    }

    static void run() throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("LISTENING");
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            int rounds = words.length > 2 ? Integer.parseInt(words[2]) : 1;
            round(words[0], words[1].split(","), rounds);
            System.out.println("DONE " + Step.summary());
        }
    }

    /** One round in the serializations of the settings. */
    static void once() throws Exception {
        round("everything", Settings.SERIALIZATIONS, 1);
    }

    private static void round(String what, String[] serializations, int rounds) throws Exception {
        for (int i = 0; i < rounds; i++) {
            for (String serialization : serializations) {
                switch (what) {
                    case "everything", "punctual", "plain", "steady", "traced", "heartbeats", "hold" ->
                        new Session(serialization, what.equals("heartbeats") ? HEARTBEAT : Settings.HEARTBEAT).calls(what);
                    default -> Extra.named(what).run(); // with references of its own
                }
            }
            Thread.sleep(switch (what) {
                case "everything" -> 1000; // late answers are on the wire before the connections end
                case "heartbeats" -> HEARTBEAT * 17 / 10; // behind the first, before the second: none meets the end
                case "hold" -> 5000;
                default -> 0;
            });
            Peer.CURRENT.leave();
        }
    }

    private void calls(String what) throws InterruptedException {
        switch (what) {
            case "everything" -> {
                punctual();
                late();
            }
            case "punctual" -> punctual();
            case "steady" -> steady();
            case "traced" -> traced();
            default -> plain();
        }
    }

    private void punctual() {
        plain();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("bid full", () -> echo.bid(Data.fullBid()));
            Step.run("text", () -> echo.text(Data.text(20000 + n, n)));
            Step.run("listUser", () -> users.listUser(n));
            Step.run("posts", () -> posts.queryPost("dubbo"));
        }
        for (String how : new String[] {"checked", "runtime"}) {
            Step.fails("fail " + how, () -> edge.fail(how));
        }
        Stranger stranger = own(Stranger.class).get();
        Step.fails("unknown service", () -> stranger.hello("nobody"));
        EdgeService oneWay = own(EdgeService.class).oneWay("event").get();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("one-way", () -> oneWay.event("one-way " + n));
        }
        EdgeService versioned = own(EdgeService.class).group("blue", "1.2.3").get();
        Step.run("group and version", () -> versioned.echoString("blue 1.2.3"));
        Step.run("nothing", edge::nothing);
        Step.run("null", () -> edge.echoString(null));
        Step.run("future", () -> Later.call(edge, "future", 20).get(5, TimeUnit.SECONDS));
    }

    private void late() {
        EdgeService impatient = own(EdgeService.class).timeout(100).get();
        Step.fails("never answered", () -> impatient.future("never", 3_600_000).get());
        Step.fails("answered late", () -> impatient.slow("late", 200));
    }

    private void plain() {
        for (int i = 0; i < 10; i++) {
            int n = i;
            Step.run("bid", () -> echo.bid(Data.bid()));
            Step.run("existUser", () -> users.existUser("jdoe" + n + "@example.org"));
            Step.run("createUser", () -> users.createUser(Data.user(n, "")));
            Step.run("getUser", () -> users.getUser(n * 1_000_000_007L));
            Step.run("tiny", () -> posts.tiny("x".repeat(n)));
            Step.run("add", () -> edge.add(n, 1L << n));
        }
        Step.run("user", () -> posts.getUser(10000));
        Step.run("echoNode", () -> edge.echoNode(new Node(1, serialization)));
    }

    /** Calls with pauses, so that what happens to the network meanwhile hits some of them. */
    private void steady() throws InterruptedException {
        for (int i = 0; i < 60; i++) {
            int n = i;
            Step.run("existUser", () -> users.existUser("jdoe" + n));
            Step.run("text", () -> echo.text(Data.text(4000 + n, n)));
            Thread.sleep(50);
        }
    }

    /** The same with an attachment that no other call has, as tracing adds it. */
    private void traced() throws InterruptedException {
        for (int i = 0; i < 60; i++) {
            int n = i;
            Step.run("existUser", () -> {
                Peer.CURRENT.attach("trace", Data.text(100, n));
                users.existUser("jdoe" + n);
            });
            Step.run("text", () -> {
                Peer.CURRENT.attach("trace", Data.text(100, -n));
                echo.text(Data.text(4000 + n, n));
            });
            Thread.sleep(50);
        }
    }
}
