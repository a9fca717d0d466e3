package dubbowire;

import java.lang.reflect.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Currency;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;

/** Values of the JDK that hold no other objects, made of whatever form a serialization has for them. */
final class Scalars {
    private static final Field INT_VAL = Containers.field(BigDecimal.class, "intVal");
    /** Not a class of these. */
    static final Object OTHER = new Object();
    private static final int LONGEST_NUMBER = 100_000; // digits

    private Scalars() {
    }

    static Object build(Class<?> t, Node n) throws Failure {
        try {
            return made(t, n);
        } catch (RuntimeException e) { // of parsers
            throw new Failure(n.what() + " is no " + t.getSimpleName() + ": " + Failure.line(e));
        }
    }

    private static Object made(Class<?> t, Node n) throws Failure {
        if (t.getName().startsWith("java.time.") && !t.isEnum() || java.util.Date.class.isAssignableFrom(t) || java.util.Calendar.class.isAssignableFrom(t)
            || java.util.TimeZone.class.isAssignableFrom(t)) {
            return Times.build(t, n);
        }
        switch (t.getName()) {
            case "boolean": case "java.lang.Boolean":
                return bool(n);
            case "byte": case "java.lang.Byte":
                return (byte) within(n, Byte.MIN_VALUE, Byte.MAX_VALUE, "byte");
            case "short": case "java.lang.Short":
                return (short) within(n, Short.MIN_VALUE, Short.MAX_VALUE, "short");
            case "int": case "java.lang.Integer":
                return (int) within(n, Integer.MIN_VALUE, Integer.MAX_VALUE, "int");
            case "long": case "java.lang.Long":
                return integer(n);
            case "float": case "java.lang.Float":
                return n.kind == Node.FLOAT32 ? (float) n.real : n.kind == Node.FLOAT64 && n.text != null ? Float.parseFloat(n.text) : (float) real(n);
            case "double": case "java.lang.Double":
                return real(n);
            case "char": case "java.lang.Character": {
                if (n.kind == Node.INT) {
                    return (char) n.number;
                }
                String s = string(n);
                if (s.length() != 1) {
                    throw new Failure("a text of " + s.length() + " characters where a char is declared");
                }
                return s.charAt(0);
            }
            case "java.lang.String":
                return string(n);
            case "java.lang.StringBuilder": {
                Node b = n.get("value");
                StringBuilder s = new StringBuilder(capacity(n, b));
                return s.append(chars(n, b));
            }
            case "java.lang.StringBuffer": {
                Node b = n.get("value");
                StringBuffer s = new StringBuffer(capacity(n, b));
                return s.append(chars(n, b));
            }
            case "java.math.BigDecimal":
                return whole(n.kind == Node.INT ? BigDecimal.valueOf(n.number) : n.kind == Node.FLOAT64 && n.text == null ? BigDecimal.valueOf(n.real)
                    : new BigDecimal(digits(n)));
            case "java.math.BigInteger":
                return n.kind == Node.INT ? BigInteger.valueOf(n.number) : new BigInteger(digits(n));
            case "java.util.concurrent.atomic.AtomicInteger":
                return new AtomicInteger((int) within(n, Integer.MIN_VALUE, Integer.MAX_VALUE, "int"));
            case "java.util.concurrent.atomic.AtomicLong":
                return new AtomicLong(integer(n));
            case "java.util.concurrent.atomic.AtomicBoolean":
                return new AtomicBoolean(bool(n));
            case "java.util.concurrent.atomic.AtomicIntegerArray": {
                long[] all = longs(n.get("array") == null ? n : n.get("array"));
                int[] ints = new int[all.length];
                for (int i = 0; i < ints.length; i++) {
                    ints[i] = (int) all[i];
                }
                return new AtomicIntegerArray(ints);
            }
            case "java.util.concurrent.atomic.AtomicLongArray":
                return new AtomicLongArray(longs(n.get("array") == null ? n : n.get("array")));
            case "java.util.UUID": {
                Node most = n.get("mostSigBits");
                if (most != null) {
                    return new UUID(integer(most), integer(n.get("leastSigBits")));
                }
                if (n.kind == Node.BYTES && n.bytes.length == 16) {
                    return new UUID(new BigInteger(n.bytes).shiftRight(64).longValue(), new BigInteger(n.bytes).longValue());
                }
                return UUID.fromString(string(n));
            }
            case "java.util.Locale":
                return locale(n);
            case "java.util.Currency":
                return Currency.getInstance(string(n));
            case "java.io.File":
                return new java.io.File(string(n.get("path") == null ? n : n.get("path")));
            case "java.net.URI":
                return URI.create(string(n));
            case "java.net.URL":
                return url(n);
            case "java.net.InetAddress": case "java.net.Inet4Address": case "java.net.Inet6Address":
                return address(n);
            case "java.util.BitSet": {
                Node words = n.kind == Node.OBJECT ? n.get("words", "bits", "value") : n;
                if (words != null && words.kind == Node.LIST && words.inner.length > 0 && words.inner[0].kind == Node.BOOL) {
                    BitSet set = new BitSet();
                    for (int i = 0; i < words.inner.length; i++) {
                        set.set(i, words.inner[i].number != 0);
                    }
                    return set;
                }
                return words != null && words.kind == Node.BYTES ? BitSet.valueOf(words.bytes) : BitSet.valueOf(longs(words == null ? n : words));
            }
            case "java.util.OptionalInt": {
                Node v = optional(n);
                return v == null ? OptionalInt.empty() : OptionalInt.of((int) integer(v));
            }
            case "java.util.OptionalLong": {
                Node v = optional(n);
                return v == null ? OptionalLong.empty() : OptionalLong.of(integer(v));
            }
            case "java.util.OptionalDouble": {
                Node v = optional(n);
                return v == null ? OptionalDouble.empty() : OptionalDouble.of(real(v));
            }
            default:
                return t.isEnum() || t.getSuperclass() != null && t.getSuperclass().isEnum() ? constant(t.isEnum() ? t : t.getSuperclass(), n) : OTHER;
        }
    }

    /** The class that a value without one has where anything may stand; null for containers. */
    static Class<?> natural(Node n) {
        switch (n.kind) {
            case Node.BOOL: return Boolean.class;
            case Node.INT: return n.number == (int) n.number ? Integer.class : Long.class;
            case Node.FLOAT32: return Float.class;
            case Node.FLOAT64: return Double.class;
            case Node.CHAR: return Character.class;
            case Node.STRING: case Node.ENUM: return String.class;
            case Node.BYTES: return byte[].class;
            case Node.DATE: return Times.natural(n.text);
            case Node.DECIMAL: return n.text.matches("[+-]?[0-9]+") ? BigInteger.class : BigDecimal.class;
            default: return null;
        }
    }

    private static Node optional(Node n) {
        if (n.kind == Node.NULL) {
            return null;
        }
        if (n.kind != Node.OBJECT) {
            return n;
        }
        Node present = n.get("isPresent"), value = n.get("value");
        return present != null && present.number == 0 || value == null || value.kind == Node.NULL ? null : value;
    }

    private static boolean bool(Node n) throws Failure {
        Node v = scalar(n);
        return v.kind == Node.BOOL || v.kind == Node.INT ? v.number != 0 : Boolean.parseBoolean(string(v));
    }

    /** What an object with one field that holds the value has in it. */
    private static Node scalar(Node n) throws Failure {
        Node v = n;
        for (int i = 0; i < 4 && !v.isScalar(); i++) {
            Node in = v.get("value", "string", "currencyCode", "name", "id");
            v = in != null ? in : v.inner.length == 1 ? v.inner[0].followed() : null;
            if (v == null) {
                break;
            }
        }
        if (v == null || !v.isScalar() || v.kind == Node.NULL) {
            throw new Failure(n.what() + " where one value is declared");
        }
        return v;
    }

    private static long within(Node n, long least, long most, String type) throws Failure {
        long v = integer(n);
        if (v < least || v > most) {
            throw new Failure(v + " is no " + type);
        }
        return v;
    }

    static long integer(Node n) throws Failure {
        Node v = scalar(n);
        switch (v.kind) {
            case Node.BOOL: case Node.INT:
                return v.number;
            case Node.CHAR:
                return v.text.charAt(0);
            case Node.FLOAT32: case Node.FLOAT64:
                if (v.real != (long) v.real) {
                    throw new Failure(v.real + " where an integer is declared");
                }
                return (long) v.real;
            case Node.DATE:
                return v.number;
            default:
                return new BigDecimal(digits(v)).longValueExact();
        }
    }

    static double real(Node n) throws Failure {
        Node v = scalar(n);
        switch (v.kind) {
            case Node.FLOAT32: case Node.FLOAT64: return v.real;
            case Node.INT: case Node.BOOL: return v.number;
            default: return Double.parseDouble(digits(v));
        }
    }

    /** A BigDecimal with its BigInteger, as Java reads it: Hessian writes the fields, and loses the number of one that has none. */
    private static BigDecimal whole(BigDecimal d) {
        try {
            if (INT_VAL != null && INT_VAL.get(d) == null) {
                INT_VAL.set(d, d.unscaledValue());
            }
        } catch (ReflectiveOperationException e) {
            return d;
        }
        return d;
    }

    private static String digits(Node n) throws Failure {
        String s = string(n);
        if (s.length() > LONGEST_NUMBER) {
            throw new Failure("a number of " + s.length() + " digits");
        }
        return s;
    }

    static String string(Node n) throws Failure {
        Node v = scalar(n);
        switch (v.kind) {
            case Node.BOOL: return Boolean.toString(v.number != 0);
            case Node.INT: return Long.toString(v.number);
            case Node.FLOAT32: return Float.toString((float) v.real);
            case Node.FLOAT64: return v.text != null ? v.text : Double.toString(v.real);
            case Node.BYTES: return new String(v.bytes, StandardCharsets.UTF_8);
            default: return v.text;
        }
    }

    static long[] longs(Node n) throws Failure {
        if (n.kind != Node.LIST) {
            throw new Failure(n.what() + " where numbers are declared");
        }
        long[] all = new long[n.inner.length];
        for (int i = 0; i < all.length; i++) {
            all[i] = integer(n.inner[i].followed());
        }
        return all;
    }

    /** Bytes of a StringBuilder are its whole array, which some formats write. */
    private static int capacity(Node n, Node value) throws Failure {
        if (value != null && value.kind == Node.BYTES) {
            return value.bytes.length >> (wide(n) ? 1 : 0);
        }
        return value != null && value.kind == Node.LIST ? value.inner.length : 16 + (value == null ? n.isScalar() ? string(n).length() : 0 : string(value).length());
    }

    private static boolean wide(Node n) {
        Node coder = n.get("coder");
        return coder != null && coder.number == 1;
    }

    private static String chars(Node n, Node value) throws Failure {
        Node count = n.get("count");
        if (value != null && value.kind == Node.BYTES) {
            String all = new String(value.bytes, wide(n) ? StandardCharsets.UTF_16LE : StandardCharsets.ISO_8859_1);
            return count == null ? all : all.substring(0, (int) count.number);
        }
        if (value != null && value.kind == Node.LIST) {
            StringBuilder s = new StringBuilder();
            for (int i = 0; i < (count == null ? value.inner.length : Math.min(count.number, value.inner.length)); i++) {
                s.append(string(value.inner[i]));
            }
            return s.toString();
        }
        return string(n);
    }

    private static Locale locale(Node n) throws Failure {
        Node language = n.get("language");
        String[] parts = {"", "", "", ""}; // language, country, variant, script
        if (language != null) {
            String[] names = {"language", "country", "variant", "script"};
            for (int i = 0; i < names.length; i++) {
                Node part = n.get(names[i]);
                parts[i] = part == null || part.kind == Node.NULL ? "" : string(part);
            }
        } else {
            String text = string(n);
            if (text.indexOf('-') > 0 && text.indexOf('_') < 0) {
                return Locale.forLanguageTag(text);
            }
            int script = text.indexOf("#");
            if (script > 0) {
                parts[3] = text.substring(script + 1);
                text = text.substring(0, script);
            }
            String[] said = text.split("_", 3);
            System.arraycopy(said, 0, parts, 0, said.length);
            if (parts[2].endsWith("_")) {
                parts[2] = parts[2].substring(0, parts[2].length() - 1);
            }
        }
        if (!parts[3].isEmpty()) {
            return new Locale.Builder().setLanguage(parts[0]).setRegion(parts[1]).setVariant(parts[2]).setScript(parts[3]).build();
        }
        return new Locale(parts[0], parts[1], parts[2]);
    }

    private static URL url(Node n) throws Failure {
        try {
            Node protocol = n.get("protocol"), host = n.get("host"), port = n.get("port"), file = n.get("file"), ref = n.get("ref");
            if (protocol == null || host == null || file == null) {
                return new URL(string(n));
            }
            String path = string(file) + (ref == null || ref.kind == Node.NULL ? "" : "#" + string(ref));
            return new URL(string(protocol), string(host), port == null ? -1 : (int) port.number, path);
        } catch (java.net.MalformedURLException e) {
            throw new Failure("no URL: " + e.getMessage());
        }
    }

    /** No name is looked up: an address without its bytes is not built. */
    private static InetAddress address(Node n) throws Failure {
        Node host = n.get("hostName"), bytes = n.get("address", "ipaddress");
        byte[] raw = null;
        if (bytes != null && bytes.kind == Node.BYTES) {
            raw = bytes.bytes;
        } else if (bytes != null && bytes.kind == Node.INT) {
            int a = (int) bytes.number;
            raw = new byte[] {(byte) (a >> 24), (byte) (a >> 16), (byte) (a >> 8), (byte) a};
        }
        if (raw == null || raw.length != 4 && raw.length != 16) {
            throw new Failure("an address without its bytes");
        }
        try {
            return InetAddress.getByAddress(host == null || host.kind == Node.NULL ? null : string(host), raw);
        } catch (java.net.UnknownHostException e) {
            throw new Failure("no address: " + e.getMessage());
        }
    }

    private static Object constant(Class<?> t, Node n) throws Failure {
        Node v = scalar(n);
        String name = v.kind == Node.INT || v.kind == Node.ENUM && v.text.isEmpty() ? null : string(v);
        Object[] all = t.getEnumConstants();
        if (name == null && v.number >= 0 && v.number < all.length) {
            return all[(int) v.number];
        }
        for (Object c : all) {
            if (((Enum<?>) c).name().equals(name)) {
                return c;
            }
        }
        throw new Failure(t.getSimpleName() + " has no constant " + (name == null ? "number " + v.number : Failure.cut(name)));
    }
}
