package org.dubbowire.rig.models;

import java.io.Serializable;
import java.net.URI;
import java.net.URL;
import java.util.BitSet;
import java.util.Currency;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.regex.Pattern;

/** Types of the JDK that serializers treat in their own ways. */
public class Misc implements Serializable {
    private UUID uuid;
    private Locale locale;
    private URI uri;
    private URL url;
    private Currency currency;
    private BitSet bits;
    private Pattern pattern;
    private StringBuilder builder;
    private StringBuffer buffer;
    private Class<?> type;
    private AtomicBoolean flag;
    private AtomicInteger number;
    private AtomicLong large;
    private AtomicReference<String> reference;
}
