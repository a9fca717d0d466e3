package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.benchmark.service.UserService;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.RpcException;
import org.apache.dubbo.rpc.StatusRpcException;
import org.apache.dubbo.rpc.TriRpcStatus;
import org.dubbowire.rig.edge.Color;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Node;
import org.dubbowire.rig.edge.Stranger;
import org.dubbowire.rig.proto.Leaf;
import org.dubbowire.rig.three.ProtoStreamService;
import org.dubbowire.rig.three.StreamService;

/** What Triple can do: each kind of call a few times, in the serialization of the settings and with protobuf messages. */
public final class Triple implements Extra {
    private static final Streams<Node> BEANS = new Streams<>(StreamService.class.getName(), Node::new, Node::getId, Node::getName);
    private static final Streams<Leaf> LEAVES = new Streams<>(ProtoStreamService.class.getName(),
        (id, name) -> Leaf.newBuilder().setId(id).setName(name).build(), Leaf::getId, Leaf::getName);

    private static final class Implementation implements StreamService {
        @Override
        public Node unary(Node node) {
            return node;
        }

        @Override
        public Node status(int code, String message) {
            if (code < 0) {
                throw new RpcException(-code, message);
            }
            throw new StatusRpcException(TriRpcStatus.fromCode(code).withDescription(message));
        }

        @Override
        public void countdown(Node from, StreamObserver<Node> answers) {
            BEANS.countdown(from, answers);
        }

        @Override
        public StreamObserver<Node> chat(StreamObserver<Node> answers) {
            return BEANS.chat(answers);
        }

        @Override
        public StreamObserver<Node> collect(StreamObserver<Node> answers) {
            return BEANS.collect(answers);
        }
    }

    private static final class Messages implements ProtoStreamService {
        @Override
        public Leaf unary(Leaf leaf) {
            return leaf;
        }

        @Override
        public void countdown(Leaf from, StreamObserver<Leaf> answers) {
            LEAVES.countdown(from, answers);
        }

        @Override
        public StreamObserver<Leaf> chat(StreamObserver<Leaf> answers) {
            return LEAVES.chat(answers);
        }

        @Override
        public StreamObserver<Leaf> collect(StreamObserver<Leaf> answers) {
            return LEAVES.collect(answers);
        }
    }

    private EdgeService edge;

    @Override
    public String name() {
        return "triple";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(StreamService.class, new Implementation(), null, null);
        Peer.CURRENT.export(ProtoStreamService.class, new Messages(), null, null);
    }

    @Override
    public void run() throws Exception {
        edge = Remote.of(EdgeService.class).get();
        published();
        values();
        failures();
        manners();
        attachments();
        generic();
        beans();
        messages();
        late();
    }

    private static void published() {
        EchoService echo = Remote.of(EchoService.class).get();
        UserService users = Remote.of(UserService.class).get();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("bid", () -> echo.bid(Data.bid()));
            Step.run("existUser", () -> users.existUser("jdoe" + n + "@example.org" + n));
            Step.run("createUser", () -> users.createUser(Data.user(n, "")));
            Step.run("getUser", () -> users.getUser(n * 1_000_000_007L));
        }
        Step.run("bid full", () -> echo.bid(Data.fullBid()));
        Step.run("text", () -> echo.text(Data.text50k()));
        Step.run("listUser", () -> users.listUser(1));
        Step.run("posts", () -> Remote.of(com.github.smartbuf.dubbo.UserService.class).get().queryPost("dubbo"));
    }

    private void values() {
        Step.run("ping", edge::ping);
        Step.run("zero", edge::zero);
        Step.run("nothing", edge::nothing);
        Step.run("add", () -> edge.add(-1, 1L << 40));
        Step.run("allPrimitives", () -> edge.allPrimitives(true, (byte) -1, (short) 300, 'x', 70000, 5_000_000_000L, 0.1f, 2.5));
        Step.run("allBoxes null", () -> edge.allBoxes(null, null, null, null, null, null, null, null));
        Step.run("echoString null", () -> edge.echoString(null));
        Step.run("echoString", () -> edge.echoString("中文 😀"));
        Step.run("echoInts", () -> edge.echoInts(new int[] {1, -1, Integer.MAX_VALUE, 0}));
        Step.run("echoBytes", () -> edge.echoBytes(Samples.bytes(300)));
        Step.run("echoEnum", () -> edge.echoEnum(Color.GREEN));
        Step.run("echoDate", () -> edge.echoDate(new Date(1574150400123L)));
        Step.run("echoNode cycle", () -> edge.echoNode(Samples.family()));
        Node shared = new Node(1, "shared");
        Step.run("pair same", () -> edge.pair(shared, shared)); // each argument has references of its own
        Step.run("echoMap", () -> {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("int", 1);
            map.put("node", new Node(2, "in a map"));
            map.put("list", new ArrayList<>(List.of(1, "two")));
            edge.echoMap(map);
        });
        Step.run("over int", () -> edge.over(1));
        Step.run("over string", () -> edge.over("1"));
        Step.run("bigBytes", () -> edge.bigBytes(120_000)); // several DATA frames
    }

    private void failures() {
        for (String how : List.of("checked", "cause", "runtime", "null", "provider only")) {
            Step.fails("fail " + how, () -> edge.fail(how));
        }
        StreamService streams = Remote.of(StreamService.class).get();
        for (int code : new int[] {3, 5, 7, 8, 16}) {
            Step.fails("status " + code, () -> streams.status(code, "refused: 库存 100 %"));
        }
        Step.fails("RpcException", () -> streams.status(-RpcException.LIMIT_EXCEEDED_EXCEPTION, "no more than 10"));
        Stranger stranger = Remote.of(Stranger.class).get();
        Step.fails("unknown service", () -> stranger.hello("nobody"));
        EdgeService wrongVersion = Remote.of(EdgeService.class).group(null, "9.9.9").get();
        Step.fails("unknown version", wrongVersion::ping);
        Step.run("after failures", edge::ping);
    }

    private void manners() {
        EdgeService versioned = Remote.of(EdgeService.class).group("blue", "1.2.3").get();
        Step.run("group and version", () -> versioned.echoString("blue 1.2.3"));
        EdgeService oneWay = Remote.of(EdgeService.class).oneWay("event").get();
        Step.run("one-way", () -> oneWay.event("one-way"));
        Step.run("interleaved", () -> {
            List<CompletableFuture<String>> calls = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                calls.add(edge.future("call " + i, 20 + i * 37 % 60));
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
        });
        Step.run("$echo", () -> Peer.CURRENT.echo(edge, "OK"));
        EdgeService own = Remote.of(EdgeService.class).connections(1).get();
        Step.run("own connection", () -> own.echoString("on a second connection"));
    }

    private void attachments() {
        Step.run("attachments", () -> {
            Peer.CURRENT.attach("trace.id", "0af7651916cd43dd");
            Peer.CURRENT.attach("UserId", "u-17"); // upper case: there is a header that maps it
            Peer.CURRENT.attach("empty", "");
            edge.attachments("strings");
        });
        Step.run("attachments beyond ASCII", () -> {
            Peer.CURRENT.attach("city", "北京");
            edge.attachments("strings");
        });
        Step.run("attachments objects", () -> {
            Peer.CURRENT.attach("number", 42);
            Peer.CURRENT.attach("flag", true);
            Peer.CURRENT.attach("token", new byte[] {0, 1, 2, -1}); // -bin
            Peer.CURRENT.attach("date", new Date(1574150400123L));
            Peer.CURRENT.attach("node", new Node(3, "no header can hold it"));
            edge.attachments("strings");
        });
        Step.run("attachments many", () -> {
            for (int i = 0; i < 60; i++) {
                Peer.CURRENT.attach("k" + i, "value " + i);
            }
            edge.attachments("strings");
        });
    }

    private static void generic() {
        Peer.Generic generic = Remote.generic(EdgeService.class.getName(), "true");
        Map<String, Object> node = new LinkedHashMap<>();
        node.put("class", Node.class.getName());
        node.put("id", 7);
        node.put("name", "from a map");
        Step.run("$invoke bean", () -> generic.invoke("echoNode", List.of(Node.class.getName()), node));
        Step.run("$invoke primitives", () -> generic.invoke("add", List.of("int", "long"), 1, 2L));
        Step.fails("$invoke exception", () -> generic.invoke("fail", List.of("java.lang.String"), "checked"));
        Step.fails("$invoke unknown method", () -> generic.invoke("nowhere", List.of()));
    }

    private static void beans() {
        StreamService service = Remote.of(StreamService.class).get();
        Step.run("unary", () -> service.unary(new Node(1, "unary")));
        Streams.all("beans", BEANS, service::countdown, service::chat, service::collect);
    }

    private static void messages() {
        ProtoStreamService service = Remote.of(ProtoStreamService.class).get();
        Step.run("message", () -> service.unary(ProtoData.tree(3)));
        Step.run("message empty", () -> service.unary(Leaf.getDefaultInstance()));
        Streams.all("messages", LEAVES, service::countdown, service::chat, service::collect);
    }

    private static void late() throws InterruptedException {
        EdgeService impatient = Remote.of(EdgeService.class).timeout(150).get();
        Step.fails("timeout", () -> impatient.slow("late", 500));
        Thread.sleep(700);
    }
}
