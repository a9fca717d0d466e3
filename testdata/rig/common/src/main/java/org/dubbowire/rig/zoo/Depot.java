package org.dubbowire.rig.zoo;

import java.io.Serializable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.Vector;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import lombok.Getter;
import lombok.Setter;

/** A warehouse: arrays of everything, collections by their interfaces and by their classes, beans as keys. */
public final class Depot {
    private Depot() {
    }

    /** Arrays of all primitives, in several dimensions. */
    @Getter
    @Setter
    public static class Grid implements Serializable {
        private static final long serialVersionUID = 1L;
        private boolean[] flags;
        private byte[] raw;
        private short[] heights;
        private char[] marks;
        private int[] counts;
        private long[] ids;
        private float[] weights;
        private double[] prices;
        private int[][] matrix;
        private long[][][] cube;
        private double[][] ragged;
        private byte[][] chunks;
        private char[][] rows;
        private boolean[][] bits;
        private String[] names;
        private String[][] table;
        private Integer[] boxes;
        private Long[] longs;
        private Double[] doubles;
        private Boolean[] booleans;
        private Object[] things;
        private Object[][] manyThings;
    }

    /** A key of maps. */
    @Getter
    @Setter
    public static class Place implements Serializable, Comparable<Place> {
        private static final long serialVersionUID = 2L;
        private int aisle;
        private String shelf;

        @Override
        public int compareTo(Place other) {
            return aisle != other.aisle ? Integer.compare(aisle, other.aisle) : String.valueOf(shelf).compareTo(String.valueOf(other.shelf));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Place p && p.aisle == aisle && Objects.equals(p.shelf, shelf);
        }

        @Override
        public int hashCode() {
            return 31 * aisle + Objects.hashCode(shelf);
        }
    }

    /** Fields declared by interface. */
    @Getter
    @Setter
    public static class Stock implements Serializable {
        private static final long serialVersionUID = 3L;
        private Collection<Place> places;
        private List<List<Integer>> nested;
        private List<int[]> arrays;
        private Set<Long> numbers;
        private SortedSet<String> sorted;
        private Queue<String> queue;
        private Deque<Integer> deque;
        private Map<Place, Integer> amounts;
        private Map<Integer, Map<String, Place>> deep;
        private Map<Long, Double> prices;
        private Map<Short, Byte> small;
        private Map<Boolean, String> yesNo;
        private ConcurrentMap<String, Integer> concurrent;
        private Iterable<String> iterable;
    }

    /** Fields declared by class. */
    @Getter
    @Setter
    public static class Racks implements Serializable {
        private static final long serialVersionUID = 4L;
        private ArrayList<Place> arrayList;
        private LinkedList<String> linkedList;
        private ArrayDeque<Integer> arrayDeque;
        private Vector<Long> vector;
        private HashMap<String, Place> hashMap;
        private LinkedHashMap<Integer, String> linkedHashMap;
        private TreeMap<String, Integer> treeMap;
        private ConcurrentHashMap<String, Long> concurrentHashMap;
    }
}
