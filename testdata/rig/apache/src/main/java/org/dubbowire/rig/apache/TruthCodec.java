package org.dubbowire.rig.apache;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.dubbo.common.extension.Wrapper;
import org.apache.dubbo.remoting.Channel;
import org.apache.dubbo.remoting.Codec2;
import org.apache.dubbo.remoting.Decodeable;
import org.apache.dubbo.remoting.buffer.ChannelBuffer;
import org.apache.dubbo.remoting.exchange.Request;
import org.apache.dubbo.remoting.exchange.Response;
import org.apache.dubbo.remoting.exchange.support.MultiMessage;
import org.dubbowire.rig.truth.Ends;
import org.dubbowire.rig.truth.Frame;
import org.dubbowire.rig.truth.Recorder;
import org.dubbowire.rig.truth.TruthLine;

/**
 * Dubbo wraps its "dubbo" codec in this class (the constructor makes it a wrapper extension). Bytes and messages pass
 * unchanged; what passed is logged: the headers from the bytes, the values from what the serialization was given.
 */
@Wrapper(matches = "dubbo") // not "default", Triple's: 3.x looks at its class to know that it does nothing; 2.7 wants a list of names here
public final class TruthCodec implements Codec2 {
    private final Codec2 delegate;

    public TruthCodec(Codec2 delegate) {
        this.delegate = delegate;
    }

    @Override
    public void encode(Channel channel, ChannelBuffer buffer, Object message) throws IOException {
        int start = buffer.writerIndex();
        Recorder recorder = Recorder.begin(() -> 0);
        try {
            delegate.encode(channel, buffer, message); // on failure nothing reaches the wire, and nothing is logged
        } finally {
            recorder.end();
        }
        int end = buffer.writerIndex();
        if (end == start) {
            return; // rolled back: Dubbo has sent an error response instead, through its own call of encode
        }
        byte[] bytes = new byte[end - start];
        buffer.getBytes(start, bytes);
        List<Recorder.Recording> streams = recorder.recordings;
        for (Frame frame : Frame.split(bytes)) {
            TruthLine.log(ends(channel), "out", frame, id(message), streams.isEmpty() ? null : streams.get(streams.size() - 1), null);
        }
    }

    @Override
    public Object decode(Channel channel, ChannelBuffer buffer) throws IOException {
        int start = buffer.readerIndex();
        Recorder recorder = Recorder.begin(buffer::readerIndex);
        Object decoded;
        try {
            decoded = delegate.decode(channel, buffer);
        } finally {
            recorder.end();
        }
        if (decoded == DecodeResult.NEED_MORE_INPUT) {
            return decoded;
        }
        byte[] bytes = new byte[buffer.readerIndex() - start];
        buffer.getBytes(start, bytes);
        List<Object> messages = messages(decoded);
        int next = 0;
        for (Frame frame : Frame.split(bytes)) {
            Object message = next < messages.size() ? messages.get(next++) : null;
            int from = start + frame.offset();
            Recorder.Recording stream = eager(recorder.recordings, from, from + frame.length());
            if (stream == null) {
                stream = decodeNow(message);
            }
            TruthLine.log(ends(channel), "in", frame, id(message), stream, decodeError(frame, message, stream));
        }
        return decoded;
    }

    private static Ends ends(Channel channel) {
        return new Ends(channel.getLocalAddress(), channel.getRemoteAddress());
    }

    private static Long id(Object message) {
        return message instanceof Request request ? request.getId() : null;
    }

    private static List<Object> messages(Object decoded) {
        List<Object> list = new ArrayList<>();
        if (decoded instanceof MultiMessage many) {
            many.forEach(list::add);
        } else {
            list.add(decoded);
        }
        return list;
    }

    /**
     * The stream that was opened while the frame's bytes were being read, if the codec decoded at once. 2.7.1 opens two
     * for a response and reads from the second.
     */
    private static Recorder.Recording eager(List<Recorder.Recording> streams, int from, int to) {
        Recorder.Recording found = null;
        for (Recorder.Recording stream : streams) {
            if (stream.position > from && stream.position <= to && (found == null || found.ops.isEmpty())) {
                found = stream;
            }
        }
        return found;
    }

    /** Newer releases decode a body later, on another thread. Doing it here changes nothing on the wire. */
    private static Recorder.Recording decodeNow(Object message) {
        Object data = null;
        if (message instanceof Request request) {
            data = request.getData();
        } else if (message instanceof Response response) {
            data = response.getResult();
        }
        if (!(data instanceof Decodeable body)) {
            return null;
        }
        Recorder recorder = Recorder.begin(() -> 0);
        try {
            body.decode();
        } catch (Exception e) {
            throw new IllegalStateException(e); // Dubbo's own implementations report failures in the message
        } finally {
            recorder.end();
        }
        return recorder.recordings.isEmpty() ? null : recorder.recordings.get(0);
    }

    private static String decodeError(Frame frame, Object message, Recorder.Recording stream) {
        if (message instanceof Request request && request.isBroken()) {
            // 3.x leaves there what it has decoded; why it stopped is known to the stream only.
            boolean told = request.getData() instanceof Decodeable && stream != null && stream.error != null;
            return told ? stream.error : String.valueOf(request.getData());
        }
        if (message instanceof Response response && frame.isDubbo() && response.getStatus() != frame.status()) {
            return response.getErrorMessage();
        }
        return null;
    }
}
