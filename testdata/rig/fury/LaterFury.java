package org.dubbowire.rig.fury;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.Type;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.common.serialize.ObjectInput;
import org.apache.dubbo.common.serialize.ObjectOutput;
import org.apache.dubbo.common.serialize.Serialization;
import org.apache.fury.Fury;
import org.apache.fury.config.CompatibleMode;
import org.apache.fury.config.FuryBuilder;
import org.apache.fury.io.BlockedStreamUtils;
import org.apache.fury.memory.MemoryBuffer;

/**
 * Dubbo with later Fury: the extensions for it are not released. Its settings and its streams are theirs. graphs.sh compiles this for
 * Fory, too, which has other package names.
 */
public class LaterFury implements Serialization {
    private final ThreadLocal<Fury> fury = ThreadLocal.withInitial(this::build);

    /** Of compatible mode. */
    public static final class Compatible extends LaterFury {
        @Override
        protected FuryBuilder builder() {
            return super.builder().withCompatibleMode(CompatibleMode.COMPATIBLE);
        }

        @Override
        public byte getContentTypeId() {
            return 29;
        }
    }

    protected FuryBuilder builder() {
        return Fury.builder().withRefTracking(true).withStringCompressed(true).requireClassRegistration(false);
    }

    private Fury build() {
        return builder().withClassLoader(Thread.currentThread().getContextClassLoader()).build();
    }

    @Override
    public byte getContentTypeId() {
        return 28;
    }

    @Override
    public String getContentType() {
        return "fury";
    }

    @Override
    public ObjectOutput serialize(URL url, OutputStream out) {
        return new Output(fury.get(), out);
    }

    @Override
    public ObjectInput deserialize(URL url, InputStream in) {
        return new Input(fury.get(), in);
    }

    private record Output(Fury fury, OutputStream out) implements ObjectOutput {
        private void write(MemoryBuffer b) throws IOException {
            out.write(b.getBytes(0, b.writerIndex()));
        }

        @Override
        public void writeObject(Object value) {
            BlockedStreamUtils.serialize(fury, out, value);
        }

        @Override
        public void writeUTF(String value) throws IOException {
            MemoryBuffer b = MemoryBuffer.newHeapBuffer(64);
            b.writeInt32(0);
            b.writeBoolean(value != null);
            if (value != null) {
                fury.writeJavaString(b, value);
            }
            b.putInt32(0, b.writerIndex() - 4);
            write(b);
        }

        @Override
        public void writeByte(byte value) throws IOException {
            out.write(value);
        }

        @Override
        public void writeInt(int value) throws IOException {
            MemoryBuffer b = MemoryBuffer.newHeapBuffer(4);
            b.writeInt32(value);
            write(b);
        }

        @Override
        public void writeBool(boolean value) throws IOException {
            out.write(value ? 1 : 0);
        }

        @Override
        public void writeShort(short value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writeLong(long value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writeFloat(float value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writeDouble(double value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writeBytes(byte[] value) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void writeBytes(byte[] value, int off, int len) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void flushBuffer() throws IOException {
            out.flush();
        }
    }

    private record Input(Fury fury, InputStream in) implements ObjectInput {
        private MemoryBuffer take(int n) throws IOException {
            return MemoryBuffer.fromByteArray(in.readNBytes(n));
        }

        @Override
        public Object readObject() {
            return BlockedStreamUtils.deserialize(fury, in);
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T readObject(Class<T> type) {
            return (T) readObject();
        }

        @Override
        @SuppressWarnings("unchecked")
        public <T> T readObject(Class<T> type, Type generic) {
            return (T) readObject();
        }

        @Override
        public String readUTF() throws IOException {
            MemoryBuffer b = take(take(4).readInt32());
            return b.readBoolean() ? fury.readJavaString(b) : null;
        }

        @Override
        public byte readByte() throws IOException {
            return (byte) in.read();
        }

        @Override
        public int readInt() throws IOException {
            return take(4).readInt32();
        }

        @Override
        public boolean readBool() throws IOException {
            return in.read() == 1;
        }

        @Override
        public short readShort() {
            throw new UnsupportedOperationException();
        }

        @Override
        public long readLong() {
            throw new UnsupportedOperationException();
        }

        @Override
        public float readFloat() {
            throw new UnsupportedOperationException();
        }

        @Override
        public double readDouble() {
            throw new UnsupportedOperationException();
        }

        @Override
        public byte[] readBytes() {
            throw new UnsupportedOperationException();
        }
    }
}
