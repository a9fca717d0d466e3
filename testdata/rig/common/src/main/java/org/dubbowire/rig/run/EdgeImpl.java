package org.dubbowire.rig.run;

import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.dubbowire.rig.edge.Color;
import org.dubbowire.rig.edge.Custom;
import org.dubbowire.rig.edge.Dates;
import org.dubbowire.rig.edge.Derived;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Enums;
import org.dubbowire.rig.edge.Holder;
import org.dubbowire.rig.edge.Immutable;
import org.dubbowire.rig.edge.Immutables;
import org.dubbowire.rig.edge.Listener;
import org.dubbowire.rig.edge.Lists;
import org.dubbowire.rig.edge.Maps;
import org.dubbowire.rig.edge.Maybe;
import org.dubbowire.rig.edge.Names;
import org.dubbowire.rig.edge.Node;
import org.dubbowire.rig.edge.Numbers;
import org.dubbowire.rig.edge.OnlyName;
import org.dubbowire.rig.edge.OrderException;
import org.dubbowire.rig.edge.PrimitiveArrays;
import org.dubbowire.rig.edge.Primitives;
import org.dubbowire.rig.provideronly.ProviderOnlyException;
import org.dubbowire.rig.edge.Shadow;
import org.dubbowire.rig.edge.Texts;
import org.dubbowire.rig.edge.Times;
import org.dubbowire.rig.edge.Unwritable;

/** The provider's side of the edge set. */
final class EdgeImpl implements EdgeService {
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2, r -> {
        Thread t = new Thread(r, "edge-timer");
        t.setDaemon(true);
        return t;
    });

    @Override
    public void ping() {
        // void: the answer has no value
    }

    @Override
    public String zero() {
        return "zero arguments";
    }

    @Override
    public Object nothing() {
        return null;
    }

    @Override
    public int add(int a, long b) {
        return (int) (a + b);
    }

    @Override
    public String allPrimitives(boolean z, byte b, short s, char c, int i, long l, float f, double d) {
        return z + "," + b + "," + s + "," + (int) c + "," + i + "," + l + "," + f + "," + d;
    }

    @Override
    public String allBoxes(Boolean z, Byte b, Short s, Character c, Integer i, Long l, Float f, Double d) {
        return z + "," + b + "," + s + "," + c + "," + i + "," + l + "," + f + "," + d;
    }

    @Override
    public String allArrays(boolean[] z, byte[] b, short[] s, char[] c, int[] i, long[] l, float[] f, double[] d) {
        StringBuilder lengths = new StringBuilder();
        for (Object array : new Object[] {z, b, s, c, i, l, f, d}) {
            lengths.append(array == null ? "null" : Integer.toString(Array.getLength(array))).append(' ');
        }
        return lengths.toString();
    }

    @Override
    public boolean echoBoolean(boolean v) {
        return v;
    }

    @Override
    public byte echoByte(byte v) {
        return v;
    }

    @Override
    public short echoShort(short v) {
        return v;
    }

    @Override
    public char echoChar(char v) {
        return v;
    }

    @Override
    public int echoInt(int v) {
        return v;
    }

    @Override
    public long echoLong(long v) {
        return v;
    }

    @Override
    public float echoFloat(float v) {
        return v;
    }

    @Override
    public double echoDouble(double v) {
        return v;
    }

    @Override
    public Integer echoBox(Integer v) {
        return v;
    }

    @Override
    public int[] echoInts(int[] v) {
        return v;
    }

    @Override
    public long[][] echoLongs2(long[][] v) {
        return v;
    }

    @Override
    public String[] echoStrings(String[] v) {
        return v;
    }

    @Override
    public Object[] echoObjects(Object[] v) {
        return v;
    }

    @Override
    public byte[] echoBytes(byte[] v) {
        return v;
    }

    @Override
    public String echoString(String v) {
        return v;
    }

    @Override
    public Color echoEnum(Color v) {
        return v;
    }

    @Override
    public Date echoDate(Date v) {
        return v;
    }

    @Override
    public Object echoAny(Object v) {
        return v;
    }

    @Override
    public List<Node> echoNodes(List<Node> v) {
        return v;
    }

    @Override
    public Set<String> echoSet(Set<String> v) {
        return v;
    }

    @Override
    public Map<Integer, String> echoIntMap(Map<Integer, String> v) {
        return v;
    }

    @Override
    public Map<String, Object> echoMap(Map<String, Object> v) {
        return v;
    }

    @Override
    public Node echoNode(Node v) {
        return v;
    }

    @Override
    public List<Node> pair(Node a, Node b) {
        List<Node> both = new ArrayList<>();
        both.add(a);
        both.add(b);
        both.add(a);
        return both;
    }

    @Override
    public Collection<Object> twice(List<Object> a, List<Object> b) {
        List<Object> both = new ArrayList<>();
        both.add(a);
        both.add(b);
        return both;
    }

    @Override
    public Primitives echoPrimitives(Primitives v) {
        return v;
    }

    @Override
    public PrimitiveArrays echoArrays(PrimitiveArrays v) {
        return v;
    }

    @Override
    public Numbers echoNumbers(Numbers v) {
        return v;
    }

    @Override
    public Dates echoDates(Dates v) {
        return v;
    }

    @Override
    public Times echoTimes(Times v) {
        return v;
    }

    @Override
    public Names echoNames(Names v) {
        return v;
    }

    @Override
    public Enums echoEnums(Enums v) {
        return v;
    }

    @Override
    public OnlyName echoOnlyName(OnlyName v) {
        return v;
    }

    @Override
    public Lists echoLists(Lists v) {
        return v;
    }

    @Override
    public Immutables echoImmutables(Immutables v) {
        return v;
    }

    @Override
    public Maps echoMaps(Maps v) {
        return v;
    }

    @Override
    public Derived echoDerived(Derived v) {
        return v;
    }

    @Override
    public Shadow echoShadow(Shadow v) {
        return v;
    }

    @Override
    public Holder<Node> echoHolder(Holder<Node> v) {
        return v;
    }

    @Override
    public Texts echoTexts(Texts v) {
        return v;
    }

    @Override
    public Maybe echoMaybe(Maybe v) {
        return v;
    }

    @Override
    public Immutable echoImmutable(Immutable v) {
        return v;
    }

    @Override
    public Custom.Written echoWritten(Custom.Written v) {
        return v;
    }

    @Override
    public Custom.External echoExternal(Custom.External v) {
        return v;
    }

    @Override
    public String over(int v) {
        return "int " + v;
    }

    @Override
    public String over(long v) {
        return "long " + v;
    }

    @Override
    public String over(String v) {
        return "string " + v;
    }

    @Override
    public String over(List<String> v) {
        return "list " + v;
    }

    @Override
    public void event(String text) {
        // called one-way
    }

    @Override
    public String slow(String v, int millis) {
        try {
            Thread.sleep(millis + Settings.DELAY);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return v;
    }

    @Override
    public CompletableFuture<String> future(String v, int millis) {
        CompletableFuture<String> promise = new CompletableFuture<>();
        timer.schedule(() -> promise.complete(v), millis, TimeUnit.MILLISECONDS);
        return promise;
    }

    @Override
    public void fail(String how) throws OrderException {
        switch (how) {
            case "checked" -> throw new OrderException("order refused: 库存不足", 17, null);
            case "cause" -> throw new OrderException("with cause", 18, new IllegalArgumentException("the cause"));
            case "runtime" -> throw new IllegalStateException("runtime exception");
            case "null" -> throw new NullPointerException();
            case "error" -> throw new AssertionError("an error, not an exception");
            case "suppressed" -> {
                RuntimeException e = new UnsupportedOperationException("suppressing");
                e.addSuppressed(new IllegalArgumentException("suppressed"));
                throw e;
            }
            // A class the consumer may not know: Dubbo's ExceptionFilter turns it into a RuntimeException with its text.
            default -> throw new ProviderOnlyException("only the provider knows me");
        }
    }

    @Override
    public Object unwritable() {
        return new Unwritable();
    }

    @Override
    public String big(int chars) {
        return Data.text(chars, 5);
    }

    @Override
    public byte[] bigBytes(int length) {
        return Data.text(1000, 6).repeat(length / 1000).getBytes(StandardCharsets.US_ASCII);
    }

    @Override
    public String attachments(String how) {
        Peer peer = Peer.CURRENT;
        peer.answer("answer.key", "answer value");
        if (how.equals("many")) {
            for (int i = 0; i < 100; i++) {
                peer.answer("r" + i, "value " + i);
            }
            peer.answer("long", Data.text(2000, 3).repeat(20));
        } else if (how.equals("objects") && peer.answerObjectAttachments()) {
            Map<String, Object> map = new HashMap<>();
            map.put("n", 1);
            peer.answer("number", 42L);
            peer.answer("map", map);
            peer.answer("node", new Node(9, "attached"));
        }
        return how;
    }

    @Override
    public int subscribe(String key, int times, Listener listener) {
        timer.schedule(() -> {
            for (int i = 0; i < times; i++) {
                try {
                    listener.changed(key, new Node(i, key));
                } catch (RuntimeException e) {
                    // a listener that fails: an exception travels from consumer to provider
                }
            }
            listener.finished(times);
        }, 50, TimeUnit.MILLISECONDS);
        return times;
    }
}
