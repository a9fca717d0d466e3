package org.dubbowire.rig.three;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.ObjectOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.apache.dubbo.common.serialize.ObjectOutput;

/** Scalars big-endian; texts as length and UTF-8; objects as length and a stream of Java's own. Lengths are ints, -1 is null. */
final class OwnOutput implements ObjectOutput {
    private final DataOutputStream out;

    OwnOutput(OutputStream out) {
        this.out = new DataOutputStream(out);
    }

    @Override
    public void writeObject(Object obj) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream objects = new ObjectOutputStream(bytes)) {
            objects.writeObject(obj);
        }
        writeBytes(bytes.toByteArray());
    }

    @Override
    public void writeUTF(String v) throws IOException {
        writeBytes(v == null ? null : v.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void writeBytes(byte[] v) throws IOException {
        if (v == null) {
            out.writeInt(-1);
        } else {
            writeBytes(v, 0, v.length);
        }
    }

    @Override
    public void writeBytes(byte[] v, int off, int len) throws IOException {
        out.writeInt(len);
        out.write(v, off, len);
    }

    @Override
    public void writeBool(boolean v) throws IOException {
        out.writeBoolean(v);
    }

    @Override
    public void writeByte(byte v) throws IOException {
        out.writeByte(v);
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
    public void flushBuffer() throws IOException {
        out.flush();
    }
}
