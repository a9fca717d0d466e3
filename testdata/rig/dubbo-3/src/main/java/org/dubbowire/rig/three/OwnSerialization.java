package org.dubbowire.rig.three;

import java.io.InputStream;
import java.io.OutputStream;
import org.apache.dubbo.common.URL;
import org.apache.dubbo.common.serialize.ObjectInput;
import org.apache.dubbo.common.serialize.ObjectOutput;
import org.apache.dubbo.common.serialize.Serialization;

/** A serialization that a user has written for himself, with an id that Dubbo leaves to users. */
public final class OwnSerialization implements Serialization {
    private static final byte ID = 31;

    @Override
    public byte getContentTypeId() {
        return ID;
    }

    @Override
    public String getContentType() {
        return "x-application/own";
    }

    @Override
    public ObjectOutput serialize(URL url, OutputStream output) {
        return new OwnOutput(output);
    }

    @Override
    public ObjectInput deserialize(URL url, InputStream input) {
        return new OwnInput(input);
    }
}
