package com.alibaba.dubbo.common.serialize.support.fst;

import com.alibaba.dubbo.common.serialize.ObjectInput;
import de.ruedigermoeller.serialization.FSTObjectInput;
import de.ruedigermoeller.serialization.util.FSTInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Type;

/** Reads what {@link FstObjectOutput} writes, as Dubbox 2.8.4 does. */
public class FstObjectInput implements ObjectInput {
    private final FSTObjectInput stream;

    public FstObjectInput(InputStream in) {
        FstObjectOutput.recover();
        stream = FstObjectOutput.CONFIGURATION.getObjectInput(in);
        FstObjectOutput.set(FSTObjectInput.class, "curDepth", stream, 0);
        FstObjectOutput.set(FSTInputStream.class, "sp", stream.getInput(), 0);
    }

    @Override
    public boolean readBool() throws IOException {
        return stream.readBoolean();
    }

    @Override
    public byte readByte() throws IOException {
        return stream.readByte();
    }

    @Override
    public short readShort() throws IOException {
        return stream.readShort();
    }

    @Override
    public int readInt() throws IOException {
        return stream.readInt();
    }

    @Override
    public long readLong() throws IOException {
        return stream.readLong();
    }

    @Override
    public float readFloat() throws IOException {
        return stream.readFloat();
    }

    @Override
    public double readDouble() throws IOException {
        return stream.readDouble();
    }

    @Override
    public byte[] readBytes() throws IOException {
        int length = stream.readInt();
        if (length < 0) {
            return null;
        }
        byte[] v = new byte[length];
        stream.readFully(v);
        return v;
    }

    @Override
    public String readUTF() throws IOException {
        return stream.readUTF();
    }

    @Override
    public Object readObject() throws IOException, ClassNotFoundException {
        return stream.readObject();
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T readObject(Class<T> type) throws IOException, ClassNotFoundException {
        return (T) readObject();
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> T readObject(Class<T> type, Type genericType) throws IOException, ClassNotFoundException {
        return (T) readObject();
    }
}
