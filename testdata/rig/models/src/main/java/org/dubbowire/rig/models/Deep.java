package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;

public class Deep implements Serializable {
    private Map<String, List<Map<Color, Box<String>>>> deep;
    private Box<List<Pair<String, Integer>>> box;
    private List<List<List<Integer>>> lists;
    private Map<Integer, Map<Long, Set<String>>> maps;
    private Pair<Box<Box<Long>>, List<Square>> pair;
    private Bounded<Integer, Square> bounded;
    private Bounded<Long, Circle> open;
    private Lists<String> texts;
    private Lists<Square> squares;
    private IntBox integers;
    private CircleBox circles;
    private Box<String[]> arrays;
    private Box<?> unknown;
    private List<Box<Color>> boxes;
}
