package org.dubbowire.rig.thrift;

import java.io.Serializable;
import java.lang.reflect.Field;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.thrift.TBase;
import org.apache.thrift.TEnum;
import org.apache.thrift.TException;
import org.apache.thrift.TFieldIdEnum;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMap;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TSet;
import org.apache.thrift.protocol.TStruct;
import org.apache.thrift.protocol.TType;

/**
 * A struct in the form that the Thrift compiler generates. The compiler is not on the machine that records, so what it would write out for each
 * class is here once: read and write make the calls of generated code, in the order of the fields in the class, and leave out what is null. A field of a
 * primitive type is always written (default requiredness), a boxed one is optional.
 */
public interface Struct<T extends Struct<T>> extends TBase<T, Struct.FieldId> {
    /** A field of a class, as in the compiler's _Fields. */
    final class FieldId implements TFieldIdEnum, Serializable {
        private final Field field;
        private final short id;
        private final byte wire;

        private FieldId(Field field) {
            this.field = field;
            id = (short) field.getAnnotation(Id.class).value();
            wire = wire(field.getGenericType());
        }

        @Override
        public short getThriftFieldId() {
            return id;
        }

        @Override
        public String getFieldName() {
            return field.getName();
        }

        Class<?> type() {
            return field.getType();
        }

        Object get(Object struct) {
            try {
                return field.get(struct);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }

        void set(Object struct, Object value) {
            try {
                field.set(struct, value);
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    Map<Class<?>, List<FieldId>> FIELDS = new ConcurrentHashMap<>();

    static List<FieldId> fields(Class<?> type) {
        return FIELDS.computeIfAbsent(type, t -> Arrays.stream(t.getFields()).filter(f -> f.isAnnotationPresent(Id.class)).map(FieldId::new).toList());
    }

    private static Class<?> raw(Type type) {
        return (Class<?>) (type instanceof ParameterizedType p ? p.getRawType() : type);
    }

    private static Type argument(Type type, int n) {
        return ((ParameterizedType) type).getActualTypeArguments()[n];
    }

    /** The type as it is on the wire. */
    static byte wire(Type type) {
        Class<?> c = raw(type);
        if (c == boolean.class || c == Boolean.class) {
            return TType.BOOL;
        } else if (c == byte.class || c == Byte.class) {
            return TType.BYTE;
        } else if (c == short.class || c == Short.class) {
            return TType.I16;
        } else if (c == int.class || c == Integer.class || TEnum.class.isAssignableFrom(c)) {
            return TType.I32;
        } else if (c == long.class || c == Long.class) {
            return TType.I64;
        } else if (c == double.class || c == Double.class) {
            return TType.DOUBLE;
        } else if (c == String.class || c == ByteBuffer.class) {
            return TType.STRING;
        } else if (c == List.class) {
            return TType.LIST;
        } else if (c == Set.class) {
            return TType.SET;
        } else if (c == Map.class) {
            return TType.MAP;
        } else if (Struct.class.isAssignableFrom(c)) {
            return TType.STRUCT;
        }
        throw new IllegalArgumentException("no type of Thrift: " + type);
    }

    @Override
    default void write(TProtocol out) throws TException {
        out.writeStructBegin(new TStruct(getClass().getSimpleName()));
        for (FieldId f : fields(getClass())) {
            Object value = f.get(this);
            if (value == null) {
                continue;
            }
            out.writeFieldBegin(new TField(f.getFieldName(), f.wire, f.id));
            write(out, f.field.getGenericType(), value);
            out.writeFieldEnd();
        }
        out.writeFieldStop();
        out.writeStructEnd();
    }

    private static void write(TProtocol out, Type type, Object value) throws TException {
        if (value instanceof Boolean v) {
            out.writeBool(v);
        } else if (value instanceof Byte v) {
            out.writeByte(v);
        } else if (value instanceof Short v) {
            out.writeI16(v);
        } else if (value instanceof Integer v) {
            out.writeI32(v);
        } else if (value instanceof TEnum v) {
            out.writeI32(v.getValue());
        } else if (value instanceof Long v) {
            out.writeI64(v);
        } else if (value instanceof Double v) {
            out.writeDouble(v);
        } else if (value instanceof String v) {
            out.writeString(v);
        } else if (value instanceof ByteBuffer v) {
            out.writeBinary(v);
        } else if (value instanceof Struct<?> v) {
            v.write(out);
        } else if (value instanceof List<?> all) {
            out.writeListBegin(new TList(wire(argument(type, 0)), all.size()));
            for (Object v : all) {
                write(out, argument(type, 0), v);
            }
            out.writeListEnd();
        } else if (value instanceof Set<?> all) {
            out.writeSetBegin(new TSet(wire(argument(type, 0)), all.size()));
            for (Object v : all) {
                write(out, argument(type, 0), v);
            }
            out.writeSetEnd();
        } else if (value instanceof Map<?, ?> all) {
            out.writeMapBegin(new TMap(wire(argument(type, 0)), wire(argument(type, 1)), all.size()));
            for (Map.Entry<?, ?> e : all.entrySet()) {
                write(out, argument(type, 0), e.getKey());
                write(out, argument(type, 1), e.getValue());
            }
            out.writeMapEnd();
        } else {
            throw new IllegalArgumentException("no value of Thrift: " + value);
        }
    }

    @Override
    default void read(TProtocol in) throws TException {
        in.readStructBegin();
        for (TField field = in.readFieldBegin(); field.type != TType.STOP; field = in.readFieldBegin()) {
            FieldId known = fieldForId(field.id);
            if (known != null && known.wire == field.type) {
                known.set(this, read(in, known.field.getGenericType()));
            } else {
                TProtocolUtil.skip(in, field.type);
            }
            in.readFieldEnd();
        }
        in.readStructEnd();
    }

    private static Object read(TProtocol in, Type type) throws TException {
        Class<?> c = raw(type);
        switch (wire(type)) {
            case TType.BOOL:
                return in.readBool();
            case TType.BYTE:
                return in.readByte();
            case TType.I16:
                return in.readI16();
            case TType.I32:
                int number = in.readI32();
                return c.isEnum() ? Arrays.stream(c.getEnumConstants()).filter(e -> ((TEnum) e).getValue() == number).findFirst().orElse(null) : (Object) number;
            case TType.I64:
                return in.readI64();
            case TType.DOUBLE:
                return in.readDouble();
            case TType.STRING:
                return c == String.class ? in.readString() : in.readBinary();
            case TType.LIST:
                List<Object> list = new ArrayList<>();
                for (int n = in.readListBegin().size; n > 0; n--) {
                    list.add(read(in, argument(type, 0)));
                }
                in.readListEnd();
                return list;
            case TType.SET:
                Set<Object> set = new LinkedHashSet<>();
                for (int n = in.readSetBegin().size; n > 0; n--) {
                    set.add(read(in, argument(type, 0)));
                }
                in.readSetEnd();
                return set;
            case TType.MAP:
                Map<Object, Object> map = new LinkedHashMap<>();
                for (int n = in.readMapBegin().size; n > 0; n--) {
                    Object key = read(in, argument(type, 0));
                    map.put(key, read(in, argument(type, 1)));
                }
                in.readMapEnd();
                return map;
            default:
                try {
                    Struct<?> struct = (Struct<?>) c.getConstructor().newInstance();
                    struct.read(in);
                    return struct;
                } catch (ReflectiveOperationException e) {
                    throw new IllegalStateException(e);
                }
        }
    }

    @Override
    default FieldId fieldForId(int id) {
        return fields(getClass()).stream().filter(f -> f.id == id).findFirst().orElse(null);
    }

    @Override
    default boolean isSet(FieldId field) {
        return field.get(this) != null;
    }

    @Override
    default Object getFieldValue(FieldId field) {
        return field.get(this);
    }

    @Override
    default void setFieldValue(FieldId field, Object value) {
        field.set(this, value);
    }

    @Override
    default T deepCopy() {
        throw new UnsupportedOperationException();
    }

    @Override
    default void clear() {
        throw new UnsupportedOperationException();
    }

    @Override
    default int compareTo(T other) {
        throw new UnsupportedOperationException();
    }
}
