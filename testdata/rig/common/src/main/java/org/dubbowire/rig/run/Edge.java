package org.dubbowire.rig.run;

import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.dubbowire.rig.consumeronly.ConsumerOnly;
import org.dubbowire.rig.edge.Color;
import org.dubbowire.rig.edge.Custom;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Immutable;
import org.dubbowire.rig.edge.Listener;
import org.dubbowire.rig.edge.Node;
import org.dubbowire.rig.edge.OnlyName;
import org.dubbowire.rig.edge.Shadow;
import org.dubbowire.rig.edge.Stranger;

/** Calls that are rare in ordinary traffic, one after the other. */
final class Edge {
    private final EdgeService edge = Remote.of(EdgeService.class).get();

    static void run() throws Exception {
        Edge e = new Edge();
        e.scalars();
        e.arrays();
        e.strings();
        e.beans();
        e.containers();
        e.references();
        e.failures();
        e.manners();
        e.generic();
        e.callbacks();
        e.attachments();
        e.late();
        telnet();
        Thread.sleep(2L * Math.min(Settings.HEARTBEAT, 1500)); // time for heartbeats
    }

    private void scalars() {
        Step.run("ping", edge::ping);
        Step.run("zero", edge::zero);
        Step.run("nothing", edge::nothing);
        Step.run("add", () -> edge.add(-1, 1L << 40));
        Step.run("allPrimitives", () -> edge.allPrimitives(true, (byte) -1, (short) 300, 'x', 70000, 5_000_000_000L, 0.1f, 2.5));
        Step.run("allPrimitives min", () -> edge.allPrimitives(false, Byte.MIN_VALUE, Short.MIN_VALUE, '\0', Integer.MIN_VALUE,
            Long.MIN_VALUE, Float.MIN_VALUE, Double.MIN_VALUE));
        Step.run("allPrimitives max", () -> edge.allPrimitives(true, Byte.MAX_VALUE, Short.MAX_VALUE, '中', Integer.MAX_VALUE,
            Long.MAX_VALUE, Float.MAX_VALUE, Double.MAX_VALUE));
        Step.run("allBoxes", () -> edge.allBoxes(true, (byte) 1, (short) 2, 'c', 4, 5L, 6.5f, 7.25));
        Step.run("allBoxes null", () -> edge.allBoxes(null, null, null, null, null, null, null, null));
        Step.run("echoBoolean", () -> edge.echoBoolean(true));
        for (byte v : new byte[] {0, 127, -128, -17, -16, 47, 48}) {
            Step.run("echoByte", () -> edge.echoByte(v));
        }
        for (short v : new short[] {0, -2048, 2047, 2048, -2049, Short.MIN_VALUE, Short.MAX_VALUE}) {
            Step.run("echoShort", () -> edge.echoShort(v));
        }
        for (char v : new char[] {'a', 0, '中', '\ud83d'}) {
            Step.run("echoChar", () -> edge.echoChar(v));
        }
        // Around every boundary of the compact forms.
        for (int v : new int[] {0, -1, -16, 47, -17, 48, -2048, 2047, -2049, 2048, -262144, 262143, -262145, 262144,
            Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            Step.run("echoInt", () -> edge.echoInt(v));
        }
        for (long v : new long[] {0, -8, 15, -9, 16, -2048, 2047, -2049, 2048, -262144, 262143, -262145, 262144,
            Integer.MIN_VALUE, Integer.MAX_VALUE, Integer.MIN_VALUE - 1L, Integer.MAX_VALUE + 1L, Long.MIN_VALUE, Long.MAX_VALUE}) {
            Step.run("echoLong", () -> edge.echoLong(v));
        }
        for (float v : new float[] {0f, -0f, 1f, 0.1f, 127f, -129f, 3.14159f, Float.NaN, Float.POSITIVE_INFINITY, Float.MIN_VALUE, Float.MAX_VALUE}) {
            Step.run("echoFloat", () -> edge.echoFloat(v));
        }
        for (double v : new double[] {0, -0.0, 1, -128, 127, 128, -32768, 32767, 32768, 0.001, 12.25, 0.1, 1.0E100, 65.536,
            2147483.647, 2147483.648, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, Double.MAX_VALUE, Float.MAX_VALUE}) {
            Step.run("echoDouble", () -> edge.echoDouble(v));
        }
        Step.run("echoBox", () -> edge.echoBox(null));
        Step.run("echoBox", () -> edge.echoBox(1000));
        Step.run("echoEnum", () -> edge.echoEnum(Color.GREEN));
        Step.run("echoEnum", () -> edge.echoEnum(null));
        for (long v : new long[] {0, 60_000, -60_000, 894621091000L, 894621060000L, 1574150400123L, Long.MAX_VALUE / 1000000, -1, 1L << 40}) {
            Step.run("echoDate", () -> edge.echoDate(new Date(v)));
        }
        Step.run("over int", () -> edge.over(1));
        Step.run("over long", () -> edge.over(1L));
        Step.run("over string", () -> edge.over("1"));
        Step.run("over list", () -> edge.over(new ArrayList<>(List.of("1", "2"))));
    }

    private void arrays() {
        Step.run("echoInts", () -> edge.echoInts(new int[] {1, -1, Integer.MAX_VALUE, 0, 1000000}));
        Step.run("echoInts empty", () -> edge.echoInts(new int[0]));
        Step.run("echoInts 20", () -> edge.echoInts(new int[20]));
        Step.run("echoLongs2", () -> edge.echoLongs2(new long[][] {{1, 2}, {}, null, {Long.MIN_VALUE}}));
        Step.run("echoStrings", () -> edge.echoStrings(new String[] {"a", null, "", "中文", "a"}));
        Step.run("echoObjects", () -> edge.echoObjects(new Object[] {1, "two", 3L, 4.5, null, true, new Node(5, "five"), Color.RED,
            new int[] {6}, new Date(7000), new ArrayList<>(List.of(8))}));
        for (int size : new int[] {0, 1, 15, 16, 1023, 1024, 5000, 9000, 32768, 65535, 65536, 70000}) {
            Step.run("echoBytes " + size, () -> edge.echoBytes(Samples.bytes(size)));
        }
        Step.run("echoBytes null", () -> edge.echoBytes(null));
        Step.run("allArrays", () -> edge.allArrays(new boolean[] {true, false}, new byte[] {1}, new short[] {1, 2}, new char[] {'a', '中'},
            new int[] {1}, new long[] {1L}, new float[] {1.5f}, new double[] {2.5}));
        Step.run("allArrays null", () -> edge.allArrays(null, null, null, null, null, null, null, null));
        Step.run("echoArrays", () -> edge.echoArrays(Samples.arrays()));
        Step.run("echoArrays empty", () -> edge.echoArrays(new org.dubbowire.rig.edge.PrimitiveArrays()));
    }

    private void strings() {
        for (int length : new int[] {0, 1, 31, 32, 33, 63, 64, 255, 256, 1023, 1024, 32767, 32768, 32769, 65535, 65536, 70000}) {
            Step.run("echoString " + length, () -> edge.echoString(Samples.repeat("abcdefghij", length)));
        }
        for (int length : new int[] {31, 32, 1023, 1024, 32768, 40000}) {
            Step.run("echoString chinese " + length, () -> edge.echoString(Samples.repeat("中文字符串", length)));
        }
        // A surrogate pair on every side of the places where long strings are cut.
        for (int before : new int[] {30, 31, 1022, 1023, 4094, 4095, 8191, 32766, 32767, 32768, 65535}) {
            Step.run("echoString emoji at " + before, () -> edge.echoString(Samples.repeat("x", before) + "😀" + "tail"));
        }
        Step.run("echoString null", () -> edge.echoString(null));
        Step.run("echoTexts", () -> edge.echoTexts(Samples.texts()));
        Step.run("echoString lone surrogates", () -> edge.echoString("a\ud83db\ude00c"));
    }

    private void beans() {
        Step.run("echoPrimitives", () -> edge.echoPrimitives(Samples.primitives()));
        Step.run("echoPrimitives default", () -> edge.echoPrimitives(new org.dubbowire.rig.edge.Primitives()));
        Step.run("echoPrimitives null", () -> edge.echoPrimitives(null));
        Step.run("echoNumbers", () -> edge.echoNumbers(Samples.numbers()));
        Step.run("echoDates", () -> edge.echoDates(Samples.dates()));
        Step.run("echoTimes", () -> edge.echoTimes(Samples.times()));
        Samples.timeValues().forEach((name, v) -> Step.run("echoAny " + name, () -> edge.echoAny(v)));
        Samples.values().forEach((name, v) -> Step.run("echoAny " + name, () -> edge.echoAny(v)));
        Step.run("echoNames", () -> edge.echoNames(Samples.names()));
        Step.run("echoEnums", () -> edge.echoEnums(Samples.enums()));
        Step.run("echoOnlyName", () -> edge.echoOnlyName(Samples.onlyName("RED")));
        Step.run("echoAny OnlyName beside enum", () -> edge.echoAny(new ArrayList<Object>(List.of(Color.RED, Samples.onlyName("RED"), Color.RED))));
        Step.run("echoDerived", () -> edge.echoDerived(Samples.derived()));
        Step.run("echoShadow", () -> edge.echoShadow(new Shadow("own", "inherited")));
        Step.run("echoHolder", () -> edge.echoHolder(Samples.holder()));
        Step.run("echoMaybe", () -> edge.echoMaybe(Samples.maybe()));
        Step.run("echoImmutable", () -> edge.echoImmutable(new Immutable("code", 3)));
        Step.run("echoWritten", () -> edge.echoWritten(new Custom.Written()));
        Step.run("echoExternal", () -> edge.echoExternal(new Custom.External()));
    }

    private void containers() {
        Step.run("echoLists", () -> edge.echoLists(Samples.lists()));
        Step.run("echoMaps", () -> edge.echoMaps(Samples.maps()));
        Step.run("echoImmutables", () -> edge.echoImmutables(Samples.immutables()));
        Samples.containers().forEach((name, v) -> Step.run("echoAny " + name, () -> edge.echoAny(v)));
        Step.run("echoSet", () -> edge.echoSet(new HashSet<>(List.of("a", "b", "c"))));
        Step.run("echoIntMap", () -> edge.echoIntMap(new HashMap<>(Map.of(1, "one", -70000, "minus"))));
        Step.run("echoMap", () -> {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("int", 1);
            map.put("node", new Node(2, "in a map"));
            map.put("list", new ArrayList<>(List.of(1, "two")));
            map.put("null", null);
            map.put("@at", "needs a pair");
            edge.echoMap(map);
        });
        for (int size : new int[] {0, 7, 8, 9, 300}) {
            Step.run("echoNodes " + size, () -> {
                List<Node> nodes = new ArrayList<>();
                for (int i = 0; i < size; i++) {
                    nodes.add(new Node(i, "n" + i));
                }
                edge.echoNodes(nodes);
            });
        }
    }

    private void references() {
        Step.run("echoNode cycle", () -> edge.echoNode(Samples.family()));
        Node shared = new Node(1, "shared");
        Step.run("pair same", () -> edge.pair(shared, shared));
        Step.run("pair null", () -> edge.pair(null, shared));
        List<Object> list = new ArrayList<>(List.of("once", new Node(2, "inside")));
        Step.run("twice same list", () -> edge.twice(list, list));
        Step.run("twice empty", () -> edge.twice(new ArrayList<>(), new ArrayList<>()));
        Step.run("echoNodes same", () -> edge.echoNodes(new ArrayList<>(Arrays.asList(shared, null, shared))));
        Step.run("echoNodes many references", () -> {
            List<Node> nodes = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                Node node = new Node(i, "n" + i);
                node.setParent(i == 0 ? null : nodes.get(i / 2));
                node.setSelf(node);
                nodes.add(node);
            }
            edge.echoNodes(nodes);
        });
        Step.run("echoAny many classes", () -> edge.echoAny(Samples.manyClasses()));
        Step.run("echoAny same types twice", () -> edge.echoAny(Samples.sameTypes()));
        Step.run("echoMap of itself", () -> {
            Map<String, Object> map = new HashMap<>();
            map.put("self", map);
            edge.echoMap(map);
        });
        Step.run("echoAny same values", () -> {
            String s = "same string";
            Date d = new Date(1000);
            java.math.BigDecimal n = new java.math.BigDecimal("1.50");
            byte[] b = {1, 2, 3};
            edge.echoAny(new ArrayList<Object>(Arrays.asList(s, s, d, d, n, n, b, b, Color.RED, Color.RED, 100000, 100000)));
        });
    }

    private void failures() {
        for (String how : List.of("checked", "cause", "runtime", "null", "error", "suppressed", "provider only")) {
            Step.fails("fail " + how, () -> edge.fail(how));
        }
        Step.fails("unwritable", edge::unwritable);
        Stranger stranger = Remote.of(Stranger.class).get();
        Step.fails("unknown service", () -> stranger.hello("nobody"));
        Step.fails("unknown service without arguments", stranger::nothing);
        EdgeService wrongVersion = Remote.of(EdgeService.class).group(null, "9.9.9").get();
        Step.fails("unknown version", wrongVersion::ping);
        EdgeService wrongPath = Remote.of(EdgeService.class).path("no/such/path").get();
        Step.fails("unknown path", wrongPath::zero);
        Step.fails("class the provider does not know", () -> {
            edge.echoAny(new ConsumerOnly());
            throw new Exception("accepted; the point is the bytes");
        });
        Step.fails("argument that cannot be written", () -> edge.echoAny(new org.dubbowire.rig.edge.Unwritable()));
        Step.run("after failures", edge::ping);
    }

    private void manners() {
        EdgeService versioned = Remote.of(EdgeService.class).group("blue", "1.2.3").get();
        Step.run("group and version", () -> versioned.echoString("blue 1.2.3"));
        EdgeService oneWay = Remote.of(EdgeService.class).oneWay("event").get();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("one-way", () -> oneWay.event("one-way " + n));
        }
        EdgeService async = Remote.of(EdgeService.class).async("slow").get();
        Step.run("async", () -> {
            async.slow("async", 30);
            Peer.CURRENT.future().get(5, TimeUnit.SECONDS);
        });
        Step.run("future", () -> Later.call(edge, "future", 20).get(5, TimeUnit.SECONDS));
        Step.run("interleaved", () -> {
            List<CompletableFuture<String>> calls = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                calls.add(Later.call(edge, "call " + i, 20 + i * 37 % 60));
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(10, TimeUnit.SECONDS);
        });
        Step.run("$echo", () -> Peer.CURRENT.echo(edge, "OK"));
        Step.run("$echo bean", () -> Peer.CURRENT.echo(edge, new Node(1, "echoed")));
        EdgeService own = Remote.of(EdgeService.class).connections(1).get();
        Step.run("own connection", () -> own.echoString("on a second connection"));
    }

    private void generic() {
        Peer.Generic generic = Remote.generic(EdgeService.class.getName(), "true");
        Map<String, Object> node = new LinkedHashMap<>();
        node.put("class", Node.class.getName());
        node.put("id", 7);
        node.put("name", "from a map");
        Step.run("$invoke bean", () -> generic.invoke("echoNode", List.of(Node.class.getName()), node));
        Step.run("$invoke primitives", () -> generic.invoke("add", List.of("int", "long"), 1, 2L));
        Step.run("$invoke none", () -> generic.invoke("zero", List.of()));
        Step.run("$invoke array", () -> generic.invoke("echoInts", List.of("int[]"), new int[] {1, 2}));
        Step.run("$invoke null", () -> generic.invoke("echoString", List.of("java.lang.String"), (Object) null));
        Step.fails("$invoke exception", () -> generic.invoke("fail", List.of("java.lang.String"), "checked"));
        Step.fails("$invoke unknown method", () -> generic.invoke("nowhere", List.of()));
        Step.run("$invokeAsync", () -> generic.invokeAsync("echoString", List.of("java.lang.String"), "async")
            .get(5, TimeUnit.SECONDS));
        // References are made inside the steps: older releases do not know these modes.
        Step.run("$invoke raw.return", () -> Remote.generic(EdgeService.class.getName(), "raw.return").invoke("echoNode", List.of(Node.class.getName()), node));
        Step.run("$invoke bean descriptor", () -> Remote.generic(EdgeService.class.getName(), "bean").invoke("echoNode", List.of(Node.class.getName()),
            Peer.CURRENT.describe(new Node(8, "descriptor"))));
        Step.run("$invoke nativejava", () -> {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new java.io.ObjectOutputStream(bytes).writeObject("serialized");
            Remote.generic(EdgeService.class.getName(), "nativejava").invoke("echoString", List.of("java.lang.String"), bytes.toByteArray());
        });
    }

    private void callbacks() {
        Step.run("callback", () -> {
            CountDownLatch finished = new CountDownLatch(1);
            edge.subscribe("key", 3, new Listener() {
                @Override
                public String changed(String key, Node node) {
                    if (node.getId() == 2) {
                        throw new IllegalStateException("the listener fails");
                    }
                    return key + " " + node.getId();
                }

                @Override
                public void finished(int count) {
                    finished.countDown();
                }
            });
            if (!finished.await(5, TimeUnit.SECONDS)) {
                throw new IllegalStateException("the provider did not call back");
            }
        });
    }

    private void attachments() {
        Step.run("attachments small", () -> {
            Peer.CURRENT.attach("trace.id", "0af7651916cd43dd");
            Peer.CURRENT.attach("空", "值");
            Peer.CURRENT.attach("empty", "");
            edge.attachments("small");
        });
        Step.run("attachments many", () -> {
            for (int i = 0; i < 100; i++) {
                Peer.CURRENT.attach("k" + i, "value " + i);
            }
            Peer.CURRENT.attach("long", Data.text(2000, 2).repeat(20));
            Peer.CURRENT.attach("a.b[c]\"d", "quoted");
            edge.attachments("many");
        });
        if (Peer.CURRENT.requestObjectAttachments()) {
            Step.run("attachments objects", () -> {
                Peer.CURRENT.attach("int", 42);
                Peer.CURRENT.attach("list", new ArrayList<>(List.of("a", "b")));
                Peer.CURRENT.attach("node", new Node(3, "attached"));
                Peer.CURRENT.attach("date", new Date(1574150400123L));
                edge.attachments("objects");
            });
        }
    }

    private void late() throws InterruptedException {
        EdgeService impatient = Remote.of(EdgeService.class).timeout(150).get();
        for (int i = 0; i < 2; i++) {
            int n = i;
            Step.fails("timeout", () -> impatient.slow("late " + n, 500));
        }
        Thread.sleep(700);
    }

    /** Text on the Dubbo port: the telnet fallback. */
    static void telnet() {
        Step.run("telnet", () -> {
            try (Socket socket = new Socket(Settings.HOST, Settings.PORT)) {
                socket.setSoTimeout(3000);
                OutputStream out = socket.getOutputStream();
                InputStream in = socket.getInputStream();
                for (String command : Settings.TELNET) {
                    out.write((command + "\r\n").getBytes(StandardCharsets.US_ASCII));
                    out.flush();
                    StringBuilder answer = new StringBuilder();
                    while (!answer.toString().endsWith("dubbo>")) {
                        int c = in.read();
                        if (c < 0) {
                            throw new IllegalStateException("closed after " + answer);
                        }
                        answer.append((char) c);
                    }
                }
            }
        });
    }
}
