package dubbowire;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Date;
import java.util.Map;

/**
 * Protobuf with a schema derived from the classes: protostuff's, which numbers the fields of an object from 1 in the order of their declaration.
 * A value that is not an object of a class is a message with the field 1, as the wrappers of Protobuf are.
 */
final class Protobuf implements Target {
    private static final int VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5;
    private final boolean triple; // else the envelope of Dubbo's serialization protobuf
    private final Method schemaOf, write, read, newMessage, allocate;
    private final Dubbo dubbo; // null without one
    private Target own; // Dubbo's serialization

    Protobuf(boolean triple, Dubbo dubbo) throws ReflectiveOperationException {
        this.triple = triple;
        this.dubbo = dubbo;
        ClassLoader loader = Protobuf.class.getClassLoader();
        Class<?> schema = Class.forName("io.protostuff.Schema", true, loader), buffer = Class.forName("io.protostuff.LinkedBuffer", true, loader);
        Class<?> io = Class.forName("io.protostuff.ProtobufIOUtil", true, loader);
        schemaOf = Class.forName("io.protostuff.runtime.RuntimeSchema", true, loader).getMethod("getSchema", Class.class);
        write = io.getMethod("toByteArray", Object.class, schema, buffer);
        read = io.getMethod("mergeFrom", byte[].class, int.class, int.class, Object.class, schema);
        newMessage = schema.getMethod("newMessage");
        allocate = buffer.getMethod("allocate", int.class);
    }

    @Override
    public void encode(Message m, OutputStream out) throws Throwable {
        if (m.messages && triple) {
            for (Object o : m.objects) {
                out.write(Messages.bytes(o)); // one
            }
            return;
        }
        if (m.messages || m.protobufOnly && !triple) {
            own().encode(m, out);
            return;
        }
        if (triple) {
            Object[] values = m.response ? new Object[] {m.result()} : m.objects;
            if (values.length == 1 && values[0] != null && isMessage(values[0].getClass())) {
                out.write(message(values[0]));
                return;
            }
            for (int i = 0; i < values.length; i++) {
                field(out, i + 1, values[i]);
            }
            return;
        }
        Map<String, Object> attachments = Dubbo.attachments(m);
        if (m.response) {
            int kind = m.isException() ? 0 : m.result() == null ? 2 : 1;
            delimited(out, (byte) (kind + (m.resultKind >= 3 || m.attachments != null ? 3 : 0)));
            if (m.result() != null) {
                delimited(out, m.result());
            }
            if (m.resultKind < 3 && m.attachments == null) {
                return;
            }
        } else {
            String[] head = {m.dubboVersion == null || m.dubboVersion.isEmpty() ? "2.0.2" : m.dubboVersion, m.service,
                m.serviceVersion == null || m.serviceVersion.isEmpty() ? "0.0.0" : m.serviceVersion, m.method, m.signature.descriptor};
            for (String s : head) {
                delimited(out, s);
            }
            for (Object argument : m.objects) {
                delimited(out, argument);
            }
        }
        Body map = new Body(Integer.MAX_VALUE - 64);
        field(map, 1, attachments);
        varint(out, map.size());
        out.write(map.array(), 0, map.size());
    }

    /** Dubbo's serialization, for messages that have a schema of their own. */
    private Target own() throws Throwable {
        if (own == null) {
            if (dubbo == null) {
                throw new Failure("no Dubbo in the class path");
            }
            own = new Dynamic(dubbo.target(dubbo.extension("protobuf")), false);
        }
        return own;
    }

    /** A message after its length; null is one without fields. */
    private void delimited(OutputStream out, Object value) throws Throwable {
        if (value != null && isMessage(value.getClass())) {
            byte[] bytes = message(value);
            varint(out, bytes.length);
            out.write(bytes);
            return;
        }
        Body body = new Body(Integer.MAX_VALUE - 64);
        field(body, 1, value);
        varint(out, body.size());
        out.write(body.array(), 0, body.size());
    }

    private static boolean isMessage(Class<?> c) {
        return !c.getName().startsWith("java.") && !c.isEnum() && !Collection.class.isAssignableFrom(c) && !Map.class.isAssignableFrom(c) && !c.isArray()
            && !(c.getSuperclass() != null && c.getSuperclass().isEnum());
    }

    private byte[] message(Object value) throws Throwable {
        return (byte[]) write.invoke(null, value, schemaOf.invoke(null, value.getClass()), allocate.invoke(null, 512));
    }

    /** One field; what has its default value is not written. */
    private void field(OutputStream out, int number, Object value) throws Throwable {
        if (value == null || isDefault(value)) {
            return;
        }
        if (value instanceof Map) {
            for (Map.Entry<?, ?> e : ((Map<?, ?>) value).entrySet()) {
                Body entry = new Body(Integer.MAX_VALUE - 64);
                single(entry, 1, e.getKey());
                single(entry, 2, e.getValue());
                bytes(out, number, entry.array(), entry.size());
            }
        } else if (value instanceof Collection || value.getClass().isArray() && !(value instanceof byte[])) {
            Object[] all = value instanceof Collection ? ((Collection<?>) value).toArray() : boxed(value);
            Body packed = new Body(Integer.MAX_VALUE - 64);
            for (Object e : all) {
                if (e instanceof Number && !(e instanceof BigDecimal) && !(e instanceof BigInteger) || e instanceof Boolean || e instanceof Enum) {
                    scalar(packed, e);
                } else if (e != null) { // a list has no nulls
                    single(out, number, e);
                }
            }
            if (packed.size() > 0) {
                bytes(out, number, packed.array(), packed.size());
            }
        } else {
            single(out, number, value);
        }
    }

    private static Object[] boxed(Object array) {
        Object[] all = new Object[Array.getLength(array)];
        for (int i = 0; i < all.length; i++) {
            all[i] = Array.get(array, i);
        }
        return all;
    }

    private static boolean isDefault(Object v) {
        return v instanceof String ? ((String) v).isEmpty() : v instanceof Boolean ? !(Boolean) v : v instanceof Enum ? ((Enum<?>) v).ordinal() == 0
            : v instanceof Character ? (Character) v == 0 : v instanceof byte[] ? ((byte[]) v).length == 0
            : (v instanceof Integer || v instanceof Long || v instanceof Short || v instanceof Byte) && ((Number) v).longValue() == 0
                || v instanceof Double && v.equals(0.0) || v instanceof Float && v.equals(0f);
    }

    private void single(OutputStream out, int number, Object value) throws Throwable {
        if (value == null) {
            return;
        }
        if (value instanceof Collection || value instanceof Map || value.getClass().isArray() && !(value instanceof byte[])) {
            throw new Failure("Protobuf has no list of lists, and no map in a list");
        }
        if (value instanceof byte[]) {
            bytes(out, number, (byte[]) value, ((byte[]) value).length);
        } else if (value instanceof Double || value instanceof Date) {
            varint(out, number << 3 | FIXED64);
            scalar(out, value);
        } else if (value instanceof Float) {
            varint(out, number << 3 | FIXED32);
            scalar(out, value);
        } else if (value instanceof Boolean || value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte
            || value instanceof Character || value instanceof Enum) {
            varint(out, number << 3 | VARINT);
            scalar(out, value);
        } else if (isMessage(value.getClass())) {
            byte[] all = message(value);
            bytes(out, number, all, all.length);
        } else {
            element(out, number, value.toString()); // texts, decimals, times
        }
    }

    private static void scalar(OutputStream out, Object v) throws IOException {
        if (v instanceof Double) {
            fixed(out, Double.doubleToLongBits((Double) v), 8);
        } else if (v instanceof Float) {
            fixed(out, Float.floatToIntBits((Float) v), 4);
        } else if (v instanceof Date) {
            fixed(out, ((Date) v).getTime(), 8);
        } else {
            varint(out, v instanceof Boolean ? (Boolean) v ? 1 : 0 : v instanceof Enum ? ((Enum<?>) v).ordinal() : v instanceof Character ? (Character) v
                : ((Number) v).longValue());
        }
    }

    private static void fixed(OutputStream out, long v, int bytes) throws IOException {
        for (int i = 0; i < bytes; i++) {
            out.write((int) (v >>> 8 * i));
        }
    }

    static void varint(OutputStream out, long v) throws IOException {
        long rest = v;
        for (; (rest & ~0x7fL) != 0; rest >>>= 7) {
            out.write((int) (rest & 0x7f | 0x80));
        }
        out.write((int) rest);
    }

    static void bytes(OutputStream out, int number, byte[] b, int length) throws IOException {
        varint(out, number << 3 | LENGTH);
        varint(out, length);
        out.write(b, 0, length);
    }

    /** A text, which is left out if it is empty, as the default of a field is. */
    static void text(OutputStream out, int number, String s) throws IOException {
        if (!s.isEmpty()) {
            element(out, number, s);
        }
    }

    static void element(OutputStream out, int number, String s) throws IOException {
        byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
        bytes(out, number, utf8, utf8.length);
    }

    @Override
    public void decode(Message m, byte[] body) throws Throwable {
        if (m.messages || m.protobufOnly && !triple) {
            if (triple) {
                Messages.parse(m.objects[0], body);
            } else {
                own().decode(m, body);
            }
            return;
        }
        byte[] all = Arrays.copyOf(body, body.length); // protostuff may keep it
        Object[] values = m.response ? new Object[] {m.result()} : m.objects;
        if (triple) {
            if (values.length == 1 && values[0] != null && isMessage(values[0].getClass())) {
                merge(all, 0, all.length, values[0].getClass());
            } else {
                fields(all, 0, all.length, values);
            }
            return;
        }
        int head = m.response ? 1 : 5; // byte of kind; versions, path, method and descriptor
        int[] at = {0};
        for (int i = 0; at[0] < all.length; i++) {
            int length = (int) varint(all, at), from = at[0], value = i - head;
            at[0] += length;
            if (value >= 0 && value < values.length && values[value] != null && isMessage(values[value].getClass())) {
                merge(all, from, length, values[value].getClass());
            } else {
                fields(all, from, length, value < 0 ? "" : value < values.length ? values[value] : Dubbo.attachments(m));
            }
        }
    }

    private void merge(byte[] all, int from, int length, Class<?> type) throws Throwable {
        Object schema = schemaOf.invoke(null, type);
        read.invoke(null, all, from, length, newMessage.invoke(schema), schema);
    }

    /** Reads the fields of a message that no class stands for, as values like these: of the fields in turn, or those of one field. */
    private void fields(byte[] all, int from, int length, Object... values) throws Throwable {
        for (int[] at = {from}; at[0] < from + length;) {
            long tag = varint(all, at);
            Object like = (int) (tag >> 3) <= values.length ? values[(int) (tag >> 3) - 1] : null;
            switch ((int) tag & 7) {
                case VARINT:
                    varint(all, at);
                    break;
                case FIXED64: case FIXED32:
                    at[0] += (tag & 7) == FIXED64 ? 8 : 4;
                    break;
                default:
                    int size = (int) varint(all, at), start = at[0];
                    at[0] += size;
                    if (like instanceof Map) {
                        Map.Entry<?, ?> first = ((Map<?, ?>) like).entrySet().iterator().next();
                        fields(all, start, size, first.getKey(), first.getValue());
                        break;
                    }
                    Object element = like instanceof Collection ? ((Collection<?>) like).iterator().next()
                        : like instanceof Object[] ? ((Object[]) like)[0] : like;
                    if (element != null && isMessage(element.getClass())) {
                        merge(all, start, size, element.getClass());
                    } else if (like instanceof byte[]) {
                        Arrays.copyOfRange(all, start, at[0]);
                    } else if (like != null && like.getClass().isArray() && !(like instanceof Object[]) || element instanceof Number && like instanceof Collection) {
                        boolean fixed = element instanceof Double || element instanceof Float || like instanceof double[] || like instanceof float[];
                        for (int[] packed = {start}; !fixed && packed[0] < at[0];) {
                            varint(all, packed);
                        }
                    } else {
                        new String(all, start, size, StandardCharsets.UTF_8);
                    }
            }
        }
    }

    private static long varint(byte[] all, int[] at) throws IOException {
        long v = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte b = all[at[0]++];
            v |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return v;
            }
        }
        throw new IOException("a number of more than 10 bytes");
    }
}
