package org.dubbowire.rig.apache;

import java.io.IOException;
import java.util.Map;
import org.apache.dubbo.common.serialize.Cleanable;
import org.apache.dubbo.common.serialize.ObjectOutput;
import org.dubbowire.rig.truth.Recorder;

/** Passes every call on unchanged and notes what the codec wrote. */
final class RecordingOutput implements ObjectOutput, Cleanable {
    private final ObjectOutput out;
    private final Recorder.Recording recording;

    RecordingOutput(ObjectOutput out, Recorder.Recording recording) {
        this.out = out;
        this.recording = recording;
    }

    @Override
    public void writeObject(Object obj) throws IOException {
        recording.add("object", obj);
        out.writeObject(obj);
    }

    // The next three exist since 2.7.5; older releases never call them.

    @Override
    public void writeThrowable(Object obj) throws IOException {
        recording.add("object", obj);
        out.writeThrowable(obj);
    }

    @Override
    public void writeEvent(Object data) throws IOException {
        recording.add("object", data);
        out.writeEvent(data);
    }

    @Override
    public void writeAttachments(Map<String, Object> attachments) throws IOException {
        recording.add("attachments", attachments);
        out.writeAttachments(attachments);
    }

    @Override
    public void writeUTF(String v) throws IOException {
        recording.add("utf", v);
        out.writeUTF(v);
    }

    @Override
    public void writeByte(byte v) throws IOException {
        recording.add("byte", v);
        out.writeByte(v);
    }

    @Override
    public void writeBool(boolean v) throws IOException {
        out.writeBool(v);
    }

    @Override
    public void writeShort(short v) throws IOException {
        out.writeShort(v);
    }

    @Override
    public void writeInt(int v) throws IOException {
        out.writeInt(v);
    }

    @Override
    public void writeLong(long v) throws IOException {
        out.writeLong(v);
    }

    @Override
    public void writeFloat(float v) throws IOException {
        out.writeFloat(v);
    }

    @Override
    public void writeDouble(double v) throws IOException {
        out.writeDouble(v);
    }

    @Override
    public void writeBytes(byte[] v) throws IOException {
        out.writeBytes(v);
    }

    @Override
    public void writeBytes(byte[] v, int off, int len) throws IOException {
        out.writeBytes(v, off, len);
    }

    @Override
    public void flushBuffer() throws IOException {
        out.flushBuffer();
    }

    @Override
    public void cleanup() {
        if (out instanceof Cleanable cleanable) {
            cleanable.cleanup();
        }
    }
}
