package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** Collections of JDK classes that are not public. */
@Getter
@Setter
public class Immutables implements Serializable {
    private static final long serialVersionUID = 1L;
    private List<String> asList;
    private List<String> unmodifiable;
    private List<String> singleton;
    private List<String> emptyList;
    private Set<String> emptySet;
    private Map<String, String> emptyMap;
    private Set<String> unmodifiableSet;
    private Map<String, String> unmodifiableMap;
    private List<String> synchronizedList;
    private Set<String> singletonSet;
    private Map<String, String> singletonMap;
}
