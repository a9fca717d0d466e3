package org.dubbowire.rig.alibaba;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import com.alibaba.dubbo.common.URL;
import com.alibaba.dubbo.common.serialize.ObjectInput;
import com.alibaba.dubbo.common.serialize.ObjectOutput;
import com.alibaba.dubbo.common.serialize.Serialization;
import org.dubbowire.rig.truth.Recorder;
import org.dubbowire.rig.truth.RecordingStream;

/** Dubbo wraps every serialization extension in this class, because its constructor takes a Serialization. */
public final class RecordingSerialization implements Serialization {
    private final Serialization delegate;

    public RecordingSerialization(Serialization delegate) {
        this.delegate = delegate;
    }

    @Override
    public byte getContentTypeId() {
        return delegate.getContentTypeId();
    }

    @Override
    public String getContentType() {
        return delegate.getContentType();
    }

    @Override
    public ObjectOutput serialize(URL url, OutputStream output) throws IOException {
        Recorder.Recording recording = Recorder.open();
        return RecordingStream.wrap(delegate.serialize(url, output), recording);
    }

    @Override
    public ObjectInput deserialize(URL url, InputStream input) throws IOException {
        Recorder.Recording recording = Recorder.open();
        try {
            return RecordingStream.wrap(delegate.deserialize(url, input), recording);
        } catch (IOException | RuntimeException e) {
            if (recording != null) {
                recording.fail(e);
            }
            throw e;
        }
    }
}
