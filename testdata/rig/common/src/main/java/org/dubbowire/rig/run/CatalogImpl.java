package org.dubbowire.rig.run;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.dubbowire.rig.thrift.Author;
import org.dubbowire.rig.thrift.Book;
import org.dubbowire.rig.thrift.Catalog;
import org.dubbowire.rig.thrift.Genre;
import org.dubbowire.rig.thrift.Legacy;
import org.dubbowire.rig.thrift.Missing;
import org.dubbowire.rig.thrift.Refused;

/** The service of Thrift, and its values. */
final class CatalogImpl implements Catalog.Iface {
    static Book book(long id) {
        Book b = new Book();
        b.setId(id);
        b.setTitle("Book " + id + " 红楼梦");
        b.setPrice(id * 1.25);
        b.setAvailable(id % 2 == 0);
        b.setRating((byte) -id);
        b.setPages((short) (id * 100));
        b.setStock((int) (id * -70_000));
        return b;
    }

    static Book fullBook() {
        Book b = book(7);
        Author teacher = new Author("teacher", -100, null, null);
        b.setGenre(Genre.POETRY);
        b.setAuthors(List.of(new Author("曹雪芹", 1715, false, teacher), teacher, new Author()));
        b.setTags(new LinkedHashSet<>(List.of("classic", "", "😀")));
        b.setSold(new LinkedHashMap<>());
        b.getSold().put("2023", 12);
        b.getSold().put("2024", -1);
        b.setCover(ByteBuffer.wrap(Samples.bytes(300)));
        b.setNotes(new LinkedHashMap<>());
        b.getNotes().put(1, List.of("first", "second"));
        b.getNotes().put(Integer.MIN_VALUE, List.of());
        b.setEditor(new Author("editor", 1970, true, null));
        b.setFlags(Arrays.asList(true, false, true));
        b.setGrid(List.of(List.of(0.5, -0.0), List.of(), List.of(1e300)));
        b.setSealed(true);
        b.setRemark("far away");
        b.setByGenre(new LinkedHashMap<>());
        b.getByGenre().put(Genre.FICTION, new LinkedHashSet<>(List.of(1L, Long.MIN_VALUE, Long.MAX_VALUE)));
        b.setCircles(List.of(Map.of("a", new Author("in a map in a list", 1, true, null)), Map.of()));
        return b;
    }

    @Override
    public void ping() {
    }

    @Override
    public boolean flag(boolean value) {
        return value;
    }

    @Override
    public byte small(byte value) {
        return value;
    }

    @Override
    public short little(short value) {
        return value;
    }

    @Override
    public int plain(int value) {
        return value;
    }

    @Override
    public long wide(long value) {
        return value;
    }

    @Override
    public double real(double value) {
        return value;
    }

    @Override
    public String text(String value) {
        return value;
    }

    @Override
    public ByteBuffer bytes(ByteBuffer value) {
        return value;
    }

    @Override
    public Genre genre(Genre value) {
        return value;
    }

    @Override
    public Book book(Book value) {
        return value;
    }

    @Override
    public List<Book> books(List<Long> ids) {
        return ids.stream().map(CatalogImpl::book).toList();
    }

    @Override
    public Set<String> tags(Set<String> value) {
        return value;
    }

    @Override
    public Map<String, Long> count(Map<String, List<Integer>> value) {
        Map<String, Long> counts = new LinkedHashMap<>();
        value.forEach((k, v) -> counts.put(k, v.stream().mapToLong(n -> n).sum()));
        return counts;
    }

    @Override
    public List<Boolean> bools(List<Boolean> value) {
        return value;
    }

    @Override
    public Map<String, Map<Integer, Book>> shelves(int number) {
        Map<String, Map<Integer, Book>> shelves = new LinkedHashMap<>();
        for (int i = 0; i < number; i++) {
            shelves.put("shelf " + i, new LinkedHashMap<>(Map.of(i, book(i))));
        }
        return shelves;
    }

    @Override
    public Legacy legacy(Legacy value) {
        return value;
    }

    @Override
    public Book find(long id) throws Missing, Refused {
        if (id == 404) {
            throw new Missing("book " + id, 404);
        }
        if (id < 0) {
            throw new Refused("negative", new ArrayList<>(List.of("use", "positive ids")));
        }
        return book(id);
    }

    @Override
    public void verify(String how) throws Missing {
        if (how.equals("missing")) {
            throw new Missing(how, -1);
        }
    }

    @Override
    public void note(String text) {
    }

    @Override
    public int all(boolean a, byte b, short c, int d, long e, double f, String g, ByteBuffer h, Genre i) {
        return d;
    }

    @Override
    public int most(byte b, short c, int d, long e, double f, String g, Genre i) {
        return d;
    }

    @Override
    public String fail(String how) {
        throw new IllegalStateException(how);
    }

    @Override
    public String none(String how) {
        return null;
    }
}
