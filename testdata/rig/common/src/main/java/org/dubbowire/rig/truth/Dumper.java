package org.dubbowire.rig.truth;

import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Calendar;
import java.util.Collection;
import java.util.Date;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TimeZone;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.dubbowire.rig.edge.Unwritable;

/**
 * Writes Java values in the forms of the `calls` records. Identity is kept for beans, collections, maps and arrays over
 * one whole frame: the second sight of the same instance is {"@ref": path of the first}.
 */
final class Dumper {
    private static final Pattern PLAIN_KEY = Pattern.compile("[^.\\[\"\\p{Cntrl}]+");
    private final Json json;
    private final Messages messages;
    private final IdentityHashMap<Object, String> seen = new IdentityHashMap<>();

    Dumper(Json json) {
        this.json = json;
        messages = new Messages(this, json);
    }

    /** A map that is part of the envelope: never a reference itself. */
    void root(String path, Map<?, ?> map) {
        map(path, map);
    }

    void value(String path, Object v) {
        if (v == null || v instanceof Boolean || v instanceof Byte || v instanceof Short || v instanceof Integer
                || v instanceof Long || v instanceof String) {
            json.scalar(v);
        } else if (v instanceof Character c) {
            json.scalar(c.toString());
        } else if (v instanceof Float || v instanceof Double) {
            floating((Number) v);
        } else if (v instanceof byte[] bytes) {
            tag("@bytes", Base64.getEncoder().encodeToString(bytes));
        } else if (v instanceof Enum<?> e) {
            json.beginObject().field("@enum", e.getDeclaringClass().getName()).field("name", e.name()).endObject();
        } else if (v instanceof Date d) {
            // java.sql.Date and Time refuse toInstant; a Timestamp has more digits than getTime
            tag("@date", (v instanceof java.sql.Timestamp t ? t.toInstant() : Instant.ofEpochMilli(d.getTime())).toString());
        } else if (v instanceof BigDecimal || v instanceof BigInteger) {
            tag("@decimal", v.toString());
        } else if (v instanceof Calendar c) {
            text(v, () -> c.toInstant().toString());
        } else if (v instanceof TemporalAccessor && v.getClass().getName().startsWith("java.time.")) {
            temporal(v);
        } else if (v instanceof UUID || v instanceof Locale || v instanceof TemporalAmount || v instanceof java.time.ZoneId) {
            text(v, v::toString);
        } else if (v instanceof StringBuilder || v instanceof StringBuffer || v instanceof java.net.URI
                || v instanceof java.net.URL || v instanceof java.util.Currency || v instanceof java.net.InetAddress || v instanceof java.net.InetSocketAddress) {
            text(v, v::toString);
        } else if (v instanceof TimeZone tz) {
            text(v, tz::getID);
        } else if (v instanceof Class<?> c) {
            text(v, c::getName);
        } else if (v instanceof Throwable t) {
            json.beginObject().field("@class", t.getClass().getName()).field("message", t.getMessage()).endObject();
        } else if (Messages.is(v)) {
            messages.message(path, v);
        } else {
            structure(path, v);
        }
    }

    private void structure(String path, Object v) {
        String first = seen.putIfAbsent(v, path);
        if (first != null) {
            tag("@ref", first);
        } else if (v.getClass().isArray()) {
            json.beginArray();
            for (int i = 0; i < Array.getLength(v); i++) {
                value(path + "[" + i + "]", Array.get(v, i));
            }
            json.endArray();
        } else if (v instanceof Collection<?> c) {
            json.beginArray();
            int i = 0;
            for (Object o : c) {
                value(path + "[" + i++ + "]", o);
            }
            json.endArray();
        } else if (v instanceof Unwritable) {
            json.scalar("unwritable"); // where a serialization could write it nevertheless
        } else if (v instanceof Map<?, ?> m) {
            map(path, m);
        } else {
            bean(path, v);
        }
    }

    private void map(String path, Map<?, ?> map) {
        boolean plain = map.keySet().stream().allMatch(k -> k instanceof String s && !s.startsWith("@"));
        json.beginObject();
        if (plain) {
            map.forEach((k, v) -> {
                json.name((String) k);
                value(key(path, (String) k), v);
            });
        } else {
            json.name("@map").beginArray();
            int i = 0;
            for (Map.Entry<?, ?> e : map.entrySet()) {
                json.beginArray();
                value(path + ".#key[" + i + "]", e.getKey());
                value(path + ".#value[" + i++ + "]", e.getValue());
                json.endArray();
            }
            json.endArray();
        }
        json.endObject();
    }

    /** Every field a serialization may write: not static, not transient, superclass first. */
    private void bean(String path, Object v) {
        json.beginObject().field("@class", v.getClass().getName());
        List<Class<?>> hierarchy = new ArrayList<>();
        for (Class<?> c = v.getClass(); c != null && c != Object.class; c = c.getSuperclass()) {
            hierarchy.add(0, c);
        }
        for (Class<?> c : hierarchy) {
            for (Field f : c.getDeclaredFields()) {
                if (Modifier.isStatic(f.getModifiers()) || Modifier.isTransient(f.getModifiers())) {
                    continue;
                }
                // A field hidden by a subclass needs another name: JSON objects have each name once.
                String name = hidden(f, hierarchy) ? c.getSimpleName() + "#" + f.getName() : f.getName();
                json.name(name);
                try {
                    f.setAccessible(true);
                    value(path + "." + name, f.get(v));
                } catch (ReflectiveOperationException | RuntimeException e) {
                    json.scalar("unreadable: " + e);
                }
            }
        }
        json.endObject();
    }

    private static boolean hidden(Field field, List<Class<?>> hierarchy) {
        Set<String> below = new HashSet<>();
        for (int i = hierarchy.indexOf(field.getDeclaringClass()) + 1; i < hierarchy.size(); i++) {
            for (Field f : hierarchy.get(i).getDeclaredFields()) {
                if (!Modifier.isStatic(f.getModifiers())) {
                    below.add(f.getName());
                }
            }
        }
        return below.contains(field.getName());
    }

    private static String key(String path, String key) {
        return PLAIN_KEY.matcher(key).matches() ? path + "." + key
                : path + "[\"" + key.replace("\\", "\\\\").replace("\"", "\\\"") + "\"]";
    }

    private void temporal(Object v) {
        switch (v.getClass().getSimpleName()) {
            case "Instant", "LocalDate", "LocalTime", "LocalDateTime", "OffsetDateTime", "OffsetTime", "ZonedDateTime" ->
                tag("@date", v.toString());
            default -> text(v, v::toString);
        }
    }

    private void floating(Number n) {
        double d = n.doubleValue();
        if (Double.isNaN(d) || Double.isInfinite(d)) {
            tag("@double", Double.toString(d));
        } else {
            json.scalar(n); // Float keeps its own short form
        }
    }

    private void tag(String tag, Object value) {
        json.beginObject().field(tag, value).endObject();
    }

    private void text(Object v, Supplier<String> text) {
        String s;
        try {
            s = text.get();
        } catch (RuntimeException e) {
            s = null; // an instance that a serialization has put together wrongly
        }
        json.beginObject().field("@class", v.getClass().getName()).field("value", s).endObject();
    }
}
