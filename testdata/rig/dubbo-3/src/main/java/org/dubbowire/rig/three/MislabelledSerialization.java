package org.dubbowire.rig.three;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.common.serialize.ObjectInput;
import org.apache.dubbo.common.serialize.ObjectOutput;
import org.apache.dubbo.common.serialize.Serialization;
import org.apache.dubbo.common.serialize.hessian2.Hessian2Serialization;
import org.dubbowire.rig.run.Settings;

/**
 * A user's own serialization that has taken the id of another one: Hessian2 behind the id of kryo. Its name comes before kryo's, so Dubbo takes it for that id;
 * where it is not asked for, it has an id that nobody else has.
 */
public final class MislabelledSerialization implements Serialization {
    private static final byte ID = (byte) (Settings.SERIALIZATION.equals("hessian2-as-kryo") ? 8 : 30);
    private final Serialization hessian2 = new Hessian2Serialization();

    @Override
    public byte getContentTypeId() {
        return ID;
    }

    @Override
    public String getContentType() {
        return "x-application/kryo";
    }

    @Override
    public ObjectOutput serialize(URL url, OutputStream output) throws IOException {
        return hessian2.serialize(url, output);
    }

    @Override
    public ObjectInput deserialize(URL url, InputStream input) throws IOException {
        return hessian2.deserialize(url, input);
    }
}
