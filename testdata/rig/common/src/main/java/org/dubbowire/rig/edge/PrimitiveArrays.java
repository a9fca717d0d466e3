package org.dubbowire.rig.edge;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** Arrays of everything, one and two dimensions. */
@Getter
@Setter
public class PrimitiveArrays implements Serializable {
    private static final long serialVersionUID = 1L;
    private boolean[] z;
    private byte[] b;
    private short[] s;
    private char[] c;
    private int[] i;
    private long[] l;
    private float[] f;
    private double[] d;
    private Integer[] boxI;
    private Long[] boxL;
    private Double[] boxD;
    private int[][] i2;
    private long[][] l2;
    private String[] strings;
    private String[][] strings2;
    private Object[] objects;
    private Node[] nodes;
}
