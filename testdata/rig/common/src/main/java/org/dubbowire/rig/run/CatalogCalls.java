package org.dubbowire.rig.run;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import org.dubbowire.rig.thrift.Author;
import org.dubbowire.rig.thrift.Book;
import org.dubbowire.rig.thrift.Catalog;
import org.dubbowire.rig.thrift.Genre;
import org.dubbowire.rig.thrift.Legacy;
import org.dubbowire.rig.thrift.Logged;

/** Calls of the service of Thrift. */
public final class CatalogCalls implements Extra {
    @Override
    public String name() {
        return "catalog";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(Catalog.Iface.class, Logged.of(new CatalogImpl(), Settings.PROTOCOL, address()), null, null);
    }

    @Override
    public void run() {
        // Dubbo's codec leaves many calls without an answer.
        run(Logged.of(Remote.of(Catalog.Iface.class).timeout(Integer.getInteger("rig.timeout", 20000)).get(), Settings.PROTOCOL, address()));
        if (Settings.PROTOCOL.equals("thrift")) {
            Catalog.Iface lost = Logged.of(Remote.of(Catalog.Iface.class).path("no.such.Service").timeout(500).get(), Settings.PROTOCOL, address());
            Step.fails("unknown path", () -> lost.plain(1));
        }
    }

    static String address() {
        return Settings.urlHost() + ":" + Settings.PORT;
    }

    /** A call that succeeds, unless the consumer cannot read any answer (thrift of 2.7): then it is only sent. */
    private static void step(String name, Step.Call call) {
        if (Boolean.getBoolean("rig.unread")) {
            Step.fails(name, call);
        } else {
            Step.run(name, call);
        }
    }

    static void run(Catalog.Iface catalog) {
        step("plain", () -> catalog.plain(1));
        step("ping", catalog::ping);
        step("flag", () -> catalog.flag(true));
        step("flag false", () -> catalog.flag(false));
        for (byte v : new byte[] {0, -1, 127, -128}) {
            step("small", () -> catalog.small(v));
        }
        for (short v : new short[] {0, 63, -64, 64, 300, Short.MIN_VALUE, Short.MAX_VALUE}) {
            step("little", () -> catalog.little(v));
        }
        // Around the lengths of compact numbers.
        for (int v : new int[] {0, -1, 63, 64, -64, -65, 8191, 8192, 1 << 20, -(1 << 27), Integer.MIN_VALUE, Integer.MAX_VALUE}) {
            step("plain", () -> catalog.plain(v));
        }
        for (long v : new long[] {0, -1, 64, 1L << 31, 1L << 34, 1L << 48, Long.MIN_VALUE, Long.MAX_VALUE}) {
            step("wide", () -> catalog.wide(v));
        }
        for (double v : new double[] {0, -0.0, 1, 3.14159, Double.NaN, Double.NEGATIVE_INFINITY, Double.MIN_VALUE, Double.MAX_VALUE}) {
            step("real", () -> catalog.real(v));
        }
        for (String v : new String[] {"", "a", "中文", "emoji 😀", "quote\"\\\n\0", Samples.repeat("abcdefghij", 127), Samples.repeat("abcdefghij", 128), Samples.repeat("中文字符串", 6000)}) {
            step("text", () -> catalog.text(v));
        }
        for (int size : new int[] {0, 20, 20_000}) {
            step("bytes", () -> catalog.bytes(ByteBuffer.wrap(Samples.bytes(size))));
        }
        step("genre", () -> catalog.genre(Genre.SCIENCE));
        step("genre", () -> catalog.genre(Genre.POETRY));
        step("book", () -> catalog.book(new Book()));
        step("book", () -> catalog.book(CatalogImpl.book(3)));
        step("book full", () -> catalog.book(CatalogImpl.fullBook()));
        for (int count : new int[] {0, 1, 14, 15, 200}) {
            List<Long> ids = new ArrayList<>();
            for (long i = 0; i < count; i++) {
                ids.add(i * 1_000_003);
            }
            step("books " + count, () -> catalog.books(ids));
        }
        step("tags", () -> catalog.tags(new LinkedHashSet<>(List.of("x", "y", "z"))));
        step("tags empty", () -> catalog.tags(new LinkedHashSet<>()));
        Map<String, List<Integer>> numbers = new LinkedHashMap<>();
        numbers.put("none", List.of());
        numbers.put("some", List.of(1, -2, 300_000));
        step("count", () -> catalog.count(numbers));
        step("count empty", () -> catalog.count(Map.of()));
        step("bools", () -> catalog.bools(List.of(true, false, false, true)));
        step("shelves", () -> catalog.shelves(3));
        step("shelves none", () -> catalog.shelves(0));
        step("legacy", () -> catalog.legacy(new Legacy("no id", -2, true, (byte) 9)));
        step("find", () -> catalog.find(12));
        Step.fails("find missing", () -> catalog.find(404));
        Step.fails("find refused", () -> catalog.find(-1));
        step("verify", () -> catalog.verify("well"));
        Step.fails("verify missing", () -> catalog.verify("missing"));
        for (int i = 0; i < 3; i++) {
            int n = i;
            step("note", () -> catalog.note("one way " + n));
        }
        step("all", () -> catalog.all(true, (byte) 1, (short) 2, 3, 4, 5.5, "six", ByteBuffer.wrap(new byte[] {7, -1}), Genre.FICTION));
        step("most", () -> catalog.most((byte) 1, (short) 2, 3, 4, 5.5, "six", Genre.FICTION));
        step("most null", () -> catalog.most((byte) 0, (short) 0, 0, 0, 0, null, null));
        Step.fails("fail", () -> catalog.fail("not declared"));
        Step.fails("fail null", () -> catalog.fail(null));
        Step.fails("none", () -> catalog.none("null is no result"));
        step("text null", () -> catalog.text("after null"));
        Step.fails("text null", () -> catalog.text(null));
        step("deep", () -> {
            Author author = null;
            for (int i = 0; i < 30; i++) {
                author = new Author("level " + i, i, i % 2 == 0 ? null : Boolean.TRUE, author);
            }
            Book book = CatalogImpl.book(1);
            book.setEditor(author);
            catalog.book(book);
        });
        for (int i = 0; i < 10; i++) {
            int n = i;
            step("text", () -> catalog.text("call " + n));
        }
    }
}
