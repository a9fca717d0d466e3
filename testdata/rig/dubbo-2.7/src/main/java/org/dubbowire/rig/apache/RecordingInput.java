package org.dubbowire.rig.apache;

import java.io.IOException;
import java.lang.reflect.Type;
import java.util.Map;
import org.apache.dubbo.common.serialize.Cleanable;
import org.apache.dubbo.common.serialize.ObjectInput;
import org.dubbowire.rig.truth.Recorder;

/** Passes every call on unchanged and notes what the codec read, or why it could not. */
final class RecordingInput implements ObjectInput, Cleanable {
    private final ObjectInput in;
    private final Recorder.Recording recording;

    RecordingInput(ObjectInput in, Recorder.Recording recording) {
        this.in = in;
        this.recording = recording;
    }

    private interface Read<T> {
        T get() throws IOException, ClassNotFoundException;
    }

    private <T> T note(String name, Read<T> read) throws IOException, ClassNotFoundException {
        try {
            T value = read.get();
            recording.add(name, value);
            return value;
        } catch (IOException | ClassNotFoundException | RuntimeException | Error e) {
            recording.fail(e);
            throw e;
        }
    }

    private <T> T noteIo(String name, Read<T> read) throws IOException {
        try {
            return note(name, read);
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
    }

    @Override
    @Deprecated
    public Object readObject() throws IOException, ClassNotFoundException {
        return note("object", () -> in.readObject());
    }

    @Override
    public <T> T readObject(Class<T> cls) throws IOException, ClassNotFoundException {
        return note("object", () -> in.readObject(cls));
    }

    @Override
    public <T> T readObject(Class<T> cls, Type type) throws IOException, ClassNotFoundException {
        return note("object", () -> in.readObject(cls, type));
    }

    // The next three exist since 2.7.5; older releases never call them.

    @Override
    public Throwable readThrowable() throws IOException, ClassNotFoundException {
        return note("object", () -> in.readThrowable());
    }

    @Override
    public Object readEvent() throws IOException, ClassNotFoundException {
        return note("object", () -> in.readEvent());
    }

    @Override
    public Map<String, Object> readAttachments() throws IOException, ClassNotFoundException {
        return note("attachments", () -> in.readAttachments());
    }

    @Override
    public String readUTF() throws IOException {
        return noteIo("utf", () -> in.readUTF());
    }

    @Override
    public byte readByte() throws IOException {
        return noteIo("byte", () -> in.readByte());
    }

    @Override
    public boolean readBool() throws IOException {
        return in.readBool();
    }

    @Override
    public short readShort() throws IOException {
        return in.readShort();
    }

    @Override
    public int readInt() throws IOException {
        return in.readInt();
    }

    @Override
    public long readLong() throws IOException {
        return in.readLong();
    }

    @Override
    public float readFloat() throws IOException {
        return in.readFloat();
    }

    @Override
    public double readDouble() throws IOException {
        return in.readDouble();
    }

    @Override
    public byte[] readBytes() throws IOException {
        return in.readBytes();
    }

    @Override
    public void cleanup() {
        if (in instanceof Cleanable cleanable) {
            cleanable.cleanup();
        }
    }
}
