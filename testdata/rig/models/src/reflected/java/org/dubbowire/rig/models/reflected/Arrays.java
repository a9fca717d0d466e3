package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.util.List;

public class Arrays implements Serializable {
    private byte[] bytes;
    private int[] ints;
    private long[] longs;
    private short[] shorts;
    private char[] chars;
    private boolean[] booleans;
    private float[] floats;
    private double[] doubles;
    private int[][] table;
    private byte[][] blobs;
    private String[] texts;
    private Byte[] boxes;
    private Mode[] modes;
    private Address[] addresses;
    private Square[][] squares;
    private List<String>[] lists;
}
