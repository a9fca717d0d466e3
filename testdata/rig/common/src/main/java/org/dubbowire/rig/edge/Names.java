package org.dubbowire.rig.edge;

import java.io.Serializable;
import java.util.*;
import lombok.Getter;
import lombok.Setter;

/** JDK values that some serializations treat specially. */
@Getter
@Setter
public class Names implements Serializable {
    private static final long serialVersionUID = 1L;
    private UUID uuid;
    private Locale locale;
    private Locale language;
    private Class<?> type;
    private Class<?> primitive;
    private StringBuilder builder;
    private Currency currency;
    private java.net.URI uri;
    private TimeZone zone;
}
