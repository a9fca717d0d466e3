package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.Date;
import java.util.List;

public class Grids implements Serializable {
    private boolean[] flags;
    private byte[] bytes;
    private char[] letters;
    private short[] shorts;
    private int[] ints;
    private long[] longs;
    private float[] floats;
    private double[] doubles;
    private String[] texts;
    private Integer[] boxes;
    private Long[] longBoxes;
    private Object[] any;
    private Number[] numbers;
    private Date[] dates;
    private Color[] colors;
    private Op[] ops;
    private Shape[] shapes;
    private Square[] squares;
    private Circle[] circles;
    private List<String>[] lists;
    private int[][] matrix;
    private byte[][] blobs;
    private long[][][] cube;
    private String[][] table;
    private Object[][] grid;
    private Square[][] board;
    private Serializable[] serials;
}
