package com.alibaba.dubbo.common.serialize.support.kryo;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoException;
import com.esotericsoftware.kryo.Serializer;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import com.esotericsoftware.kryo.serializers.FieldSerializer;
import com.esotericsoftware.kryo.serializers.JavaSerializer;
import java.util.Arrays;

/**
 * In Dubbox enums are written by Java serialization, like all classes without a constructor that has no parameters. In Dubbo 2.6.0 they are not. All else is the
 * same.
 */
public class CompatibleKryo extends Kryo {
    @Override
    @SuppressWarnings("rawtypes")
    public Serializer getDefaultSerializer(Class type) {
        boolean constructed = Arrays.stream(type.getDeclaredConstructors()).anyMatch(c -> c.getParameterCount() == 0);
        return type.isArray() || constructed ? super.getDefaultSerializer(type) : new JavaSerializer();
    }

    /** Kryo 2.24 takes some generic fields for others. Then it reads memory behind the object, which may end the JVM; here it is an exception. */
    @Override
    @SuppressWarnings({"rawtypes", "unchecked"})
    protected Serializer newDefaultSerializer(Class type) {
        return new FieldSerializer(this, type) {
            @Override
            public void write(Kryo kryo, Output output, Object object) {
                if (!getType().isInstance(object)) {
                    throw new KryoException(object.getClass() + " is not " + getType());
                }
                super.write(kryo, output, object);
            }

            @Override
            public Object read(Kryo kryo, Input input, Class asked) {
                Object object = super.read(kryo, input, asked);
                for (CachedField field : getFields()) {
                    Class<?> declared = field.getField().getType();
                    try {
                        Object value = field.getField().get(object);
                        if (value != null && !declared.isPrimitive() && !declared.isInstance(value)) {
                            throw new KryoException(value.getClass() + " is not " + declared);
                        }
                    } catch (IllegalAccessException e) {
                        throw new KryoException(e);
                    }
                }
                return object;
            }
        };
    }
}
