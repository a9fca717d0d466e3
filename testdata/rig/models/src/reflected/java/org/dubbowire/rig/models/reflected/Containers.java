package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.math.BigDecimal;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;

public class Containers implements Serializable {
    private List<String> texts;
    private Set<Mode> modes;
    private Collection<Long> longs;
    private SortedSet<Integer> sorted;
    private Queue<Character> queue;
    private List<List<Integer>> lists;
    private List<Map<String, Short>> maps;
    private Map<String, Long> counts;
    private Map<String, List<Address>> addresses;
    private LinkedHashMap<String, Double> linked;
    private SortedMap<String, Boolean> flags;
    private Map<Integer, String> byNumber;
    private Map<Mode, Address> byMode;
    private Map<BigDecimal, Integer> byDecimal;
    private Map<Address, Address> byAddress;
    private Map<CharSequence, Integer> byLetters;
    private Map<Long, Map<Integer, Byte>> nested;
    private List<BigDecimal> decimals;
}
