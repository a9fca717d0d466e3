package org.dubbowire.rig.thrift;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lombok.Data;

/** All types of Thrift. */
@Data
public final class Book implements Struct<Book> {
    @Id(1)
    public long id;
    @Id(2)
    public String title;
    @Id(3)
    public double price;
    @Id(4)
    public boolean available;
    @Id(5)
    public byte rating;
    @Id(6)
    public short pages;
    @Id(7)
    public int stock;
    @Id(8)
    public Genre genre;
    @Id(9)
    public List<Author> authors;
    @Id(10)
    public Set<String> tags;
    @Id(11)
    public Map<String, Integer> sold;
    @Id(12)
    public ByteBuffer cover;
    @Id(13)
    public Map<Integer, List<String>> notes;
    @Id(14)
    public Author editor;
    // Compact writes the distance of ids up to 15, and the id itself where it is greater.
    @Id(20)
    public List<Boolean> flags;
    @Id(40)
    public List<List<Double>> grid;
    @Id(41)
    public Boolean sealed;
    @Id(300)
    public String remark;
    @Id(301)
    public Map<Genre, Set<Long>> byGenre;
    @Id(302)
    public List<Map<String, Author>> circles;
}
