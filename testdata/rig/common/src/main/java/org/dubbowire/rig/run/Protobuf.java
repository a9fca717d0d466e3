package org.dubbowire.rig.run;

import com.google.protobuf.Empty;
import com.google.protobuf.Int32Value;
import com.google.protobuf.Int64Value;
import com.google.protobuf.Message;
import com.google.protobuf.MessageLite;
import com.google.protobuf.StringValue;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.dubbowire.rig.edge.Stranger;
import org.dubbowire.rig.proto.Leaf;
import org.dubbowire.rig.proto.ProtoService;

/** The published workloads, and rare calls, with messages: for the serializations that take nothing else. */
final class Protobuf {
    private final ProtoService service = Remote.of(ProtoService.class).get();

    private Protobuf() {
    }

    /** Only where the serialization needs it: the oldest generations have no messages. */
    static void export(Peer peer) {
        if (Settings.SERIALIZATION.startsWith("protobuf")) {
            register();
            ProtoService implementation = new ProtoImpl();
            peer.export(ProtoService.class, implementation, null, null);
            peer.export(ProtoService.class, implementation, "blue", "1.2.3");
        }
    }

    /** What Dubbo's compiler writes into the interfaces it generates: the serialization reads only classes it was told of. */
    private static void register() {
        try {
            Method marshaller = Class.forName("org.apache.dubbo.common.serialize.protobuf.support.ProtobufUtils").getMethod("marshaller", MessageLite.class);
            for (Method method : ProtoService.class.getMethods()) {
                List<Class<?>> types = new ArrayList<>(List.of(method.getParameterTypes()));
                types.add(method.getReturnType());
                for (Class<?> type : types) {
                    if (Message.class.isAssignableFrom(type)) {
                        marshaller.invoke(null, type.getMethod("getDefaultInstance").invoke(null));
                    }
                }
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The calls of Load with messages. */
    static LongConsumer load(String method) {
        register();
        ProtoService service = Remote.of(ProtoService.class).get();
        return switch (method) {
            case "existUser" -> n -> service.existUser(StringValue.of("jdoe" + n % 10 + "@example.org"));
            case "createUser" -> n -> service.createUser(ProtoData.user(n, ""));
            case "getUser" -> n -> service.getUser(Int64Value.of(n));
            case "listUser" -> n -> service.listUser(Int32Value.of((int) (n % 1000)));
            case "posts" -> n -> service.queryPost(StringValue.of("dubbo"));
            default -> throw new IllegalArgumentException("no load of messages " + method);
        };
    }

    static void run() throws Exception {
        register();
        Protobuf p = new Protobuf();
        p.published();
        p.values();
        p.failures();
        p.manners();
        p.attachments();
        p.generic();
        p.late();
        Edge.telnet();
        Thread.sleep(2L * Math.min(Settings.HEARTBEAT, 1500)); // time for heartbeats
    }

    private void published() {
        for (int i = 0; i < 5; i++) {
            Step.run("bid", () -> service.bid(ProtoData.bid()));
        }
        Step.run("bid full", () -> service.bid(ProtoData.fullBid()));
        Step.run("text", () -> service.text(StringValue.of(Data.text50k())));
        for (int i = 0; i < 10; i++) {
            int n = i;
            Step.run("existUser", () -> service.existUser(StringValue.of("jdoe" + n + "@example.org" + n)));
            Step.run("createUser", () -> service.createUser(ProtoData.user(n, "")));
            Step.run("getUser", () -> service.getUser(Int64Value.of(n * 1_000_000_007L)));
            if (n < 3) {
                Step.run("listUser", () -> service.listUser(Int32Value.of(n)));
            }
        }
        Step.run("posts", () -> service.queryPost(StringValue.of("dubbo")));
    }

    private void values() {
        Step.run("ping", () -> service.ping(Empty.getDefaultInstance()));
        Step.run("none", service::none);
        Step.run("pair", () -> service.pair(ProtoData.leaf(1), ProtoData.leaf(2)));
        Step.run("pair empty", () -> service.pair(Leaf.getDefaultInstance(), Leaf.getDefaultInstance()));
        ProtoData.scalars().forEach((name, v) -> Step.run("echoScalars " + name, () -> service.echoScalars(v)));
        Step.run("echoRepeated", () -> service.echoRepeated(ProtoData.repeated()));
        Step.run("echoMaps", () -> service.echoMaps(ProtoData.maps()));
        ProtoData.choices().forEach((name, v) -> Step.run("echoChoice " + name, () -> service.echoChoice(v)));
        Step.run("echoKnown", () -> service.echoKnown(ProtoData.known()));
        Step.run("echoWrapped", () -> service.echoWrapped(ProtoData.wrapped()));
        Step.run("echoLeaf chain", () -> service.echoLeaf(ProtoData.chain(40)));
        Step.run("echoLeaf tree", () -> service.echoLeaf(ProtoData.tree(4)));
        Step.run("echoOlder", () -> service.echoOlder(ProtoData.unknown()));
        for (int size : new int[] {0, 1, 127, 128, 16383, 16384, 70000}) {
            Step.run("echoBlob " + size, () -> service.echoBlob(ProtoData.blob(size)));
        }
    }

    private void failures() {
        for (String how : List.of("checked", "cause", "runtime", "null", "provider only")) {
            Step.fails("fail " + how, () -> service.fail(StringValue.of(how)));
        }
        Step.fails("not a message", () -> service.notAMessage(Empty.getDefaultInstance()));
        Step.fails("null argument", () -> service.echoLeaf(null));
        Stranger stranger = Remote.of(Stranger.class).get();
        Step.fails("argument that is no message", () -> stranger.hello("nobody"));
        Step.fails("unknown service", stranger::nothing);
        ProtoService wrongVersion = Remote.of(ProtoService.class).group(null, "9.9.9").get();
        Step.fails("unknown version", () -> wrongVersion.ping(Empty.getDefaultInstance()));
        Step.run("after failures", () -> service.ping(Empty.getDefaultInstance()));
    }

    private void manners() {
        ProtoService versioned = Remote.of(ProtoService.class).group("blue", "1.2.3").get();
        Step.run("group and version", () -> versioned.echoLeaf(ProtoData.leaf(6)));
        ProtoService oneWay = Remote.of(ProtoService.class).oneWay("event").get();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("one-way", () -> oneWay.event(StringValue.of("one-way " + n)));
        }
        Step.run("void", () -> service.event(StringValue.of("two-way")));
        Step.run("interleaved", () -> {
            List<CompletableFuture<StringValue>> calls = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                calls.add(service.future(StringValue.of("call " + i), Int32Value.of(20 + i * 37 % 60)));
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
        });
        Step.run("$echo", () -> Peer.CURRENT.echo(service, ProtoData.leaf(7)));
        ProtoService own = Remote.of(ProtoService.class).connections(1).get();
        Step.run("own connection", () -> own.echoLeaf(ProtoData.leaf(8)));
    }

    private void attachments() {
        Step.run("attachments", () -> {
            Peer.CURRENT.attach("trace.id", "0af7651916cd43dd");
            Peer.CURRENT.attach("空", "值");
            Peer.CURRENT.attach("empty", "");
            service.ping(Empty.getDefaultInstance());
        });
        Step.run("attachments many", () -> {
            for (int i = 0; i < 50; i++) {
                Peer.CURRENT.attach("k" + i, "value " + i);
            }
            Peer.CURRENT.attach("long", Data.text(20000, 2));
            Peer.CURRENT.attach("a.b[c]\"d", "quoted");
            service.ping(Empty.getDefaultInstance());
        });
        Step.run("attachments answered", () -> service.answer(StringValue.of("strings")));
        if (Peer.CURRENT.requestObjectAttachments()) {
            Step.run("attachments objects", () -> {
                Peer.CURRENT.attach("int", 42);
                service.ping(Empty.getDefaultInstance());
            });
        }
        if (Peer.CURRENT.answerObjectAttachments()) {
            Step.run("attachments objects answered", () -> service.answer(StringValue.of("objects")));
        }
    }

    /** JSON in a string for a message; a generic call itself is no message and goes by Hessian. */
    private void generic() {
        Step.run("$invoke protobuf-json", () -> Remote.generic(ProtoService.class.getName(), "protobuf-json", "hessian2")
            .invoke("echoLeaf", List.of(Leaf.class.getName()), "{\"id\":9,\"name\":\"from JSON\"}"));
        Step.run("$invoke", () -> Remote.generic(ProtoService.class.getName(), "true").invoke("none", List.of()));
    }

    private void late() throws InterruptedException {
        ProtoService impatient = Remote.of(ProtoService.class).timeout(150).get();
        Step.fails("timeout", () -> impatient.slow(StringValue.of("late"), Int32Value.of(500)));
        Thread.sleep(700);
    }
}
