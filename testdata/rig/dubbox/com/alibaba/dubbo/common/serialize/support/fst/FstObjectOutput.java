package com.alibaba.dubbo.common.serialize.support.fst;

import com.alibaba.dubbo.common.serialize.ObjectOutput;
import com.alibaba.dubbo.common.serialize.support.SerializableClassRegistry;
import de.ruedigermoeller.serialization.FSTClazzInfoRegistry;
import de.ruedigermoeller.serialization.FSTClazzNameRegistry;
import de.ruedigermoeller.serialization.FSTConfiguration;
import de.ruedigermoeller.serialization.FSTObjectOutput;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What Dubbox 2.8.4 calls of FST 1.55, in place of Dubbo's class of this name, which calls FST 2: the default configuration with the
 * registered classes in their order, its stream for the thread, and the stream's method of the same name for each value.
 */
public class FstObjectOutput implements ObjectOutput {
    static final FSTConfiguration CONFIGURATION = FSTConfiguration.createDefaultConfiguration();

    static {
        for (Class<?> c : SerializableClassRegistry.getRegisteredClasses()) {
            CONFIGURATION.registerClass(c);
        }
    }

    private final FSTObjectOutput stream;

    public FstObjectOutput(OutputStream out) {
        recover();
        stream = CONFIGURATION.getObjectOutput(out);
        set(FSTObjectOutput.class, "curDepth", stream, 0);
    }

    /** After a class that it cannot write or find, FST 1.55 keeps a lock, for which every later use of the configuration would wait. */
    static void recover() {
        set(FSTClazzInfoRegistry.class, "rwLock", CONFIGURATION.getCLInfoRegistry(), false);
        set(FSTClazzNameRegistry.class, "classCacheLock", CONFIGURATION.getClassRegistry(), false);
    }

    /** Streams are used again. After an exception they still count the values around the one that failed. */
    static void set(Class<?> declaring, String name, Object of, Object value) {
        try {
            Field field = declaring.getDeclaredField(name);
            field.setAccessible(true);
            if (field.get(of) instanceof AtomicBoolean flag) {
                flag.set((Boolean) value);
            } else {
                field.set(of, value);
            }
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void writeBool(boolean v) throws IOException {
        stream.writeBoolean(v);
    }

    @Override
    public void writeByte(byte v) throws IOException {
        stream.writeByte(v);
    }

    @Override
    public void writeShort(short v) throws IOException {
        stream.writeShort(v);
    }

    @Override
    public void writeInt(int v) throws IOException {
        stream.writeInt(v);
    }

    @Override
    public void writeLong(long v) throws IOException {
        stream.writeLong(v);
    }

    @Override
    public void writeFloat(float v) throws IOException {
        stream.writeFloat(v);
    }

    @Override
    public void writeDouble(double v) throws IOException {
        stream.writeDouble(v);
    }

    @Override
    public void writeBytes(byte[] v) throws IOException {
        writeBytes(v, 0, v == null ? -1 : v.length);
    }

    @Override
    public void writeBytes(byte[] v, int offset, int length) throws IOException {
        stream.writeInt(v == null ? -1 : length);
        if (v != null) {
            stream.write(v, offset, length);
        }
    }

    @Override
    public void writeUTF(String v) throws IOException {
        stream.writeUTF(v);
    }

    @Override
    public void writeObject(Object v) throws IOException {
        stream.writeObject(v);
    }

    @Override
    public void flushBuffer() throws IOException {
        stream.flush();
    }
}
