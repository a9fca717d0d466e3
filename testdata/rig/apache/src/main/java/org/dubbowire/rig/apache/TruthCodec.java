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
import org.dubbowire.rig.truth.CodecTruth;
import org.dubbowire.rig.truth.Ends;
import org.dubbowire.rig.truth.Frame;
import org.dubbowire.rig.truth.Recorder;

/**
 * Dubbo wraps its codecs "dubbo" and "thrift" in this class (the constructor makes it a wrapper extension). Bytes and messages pass
 * unchanged; what passed is logged: the headers from the bytes, the values from what the serialization was given.
 */
@Wrapper(matches = {"dubbo", "thrift"}) // not "default", Triple's: 3.x looks at its class to know that it does nothing; 2.7 wants a list of names here
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
        CodecTruth.sent(ends(channel), bytes(buffer, start, buffer.writerIndex()), new Passed(message), recorder);
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
        if (decoded != DecodeResult.NEED_MORE_INPUT) {
            List<CodecTruth.Message> messages = new ArrayList<>();
            if (decoded instanceof MultiMessage many) {
                many.forEach(message -> messages.add(new Passed(message)));
            } else {
                messages.add(new Passed(decoded));
            }
            CodecTruth.received(ends(channel), bytes(buffer, start, buffer.readerIndex()), start, messages, recorder);
        }
        return decoded;
    }

    private static byte[] bytes(ChannelBuffer buffer, int start, int end) {
        byte[] bytes = new byte[end - start];
        buffer.getBytes(start, bytes);
        return bytes;
    }

    private static Ends ends(Channel channel) {
        return new Ends(channel.getLocalAddress(), channel.getRemoteAddress());
    }

    /** A request, a response, or text. */
    private record Passed(Object message) implements CodecTruth.Message {
        @Override
        public Long requestId() {
            return message instanceof Request request ? request.getId() : null;
        }

        @Override
        public boolean isResponse() {
            return message instanceof Response;
        }

        @Override
        public boolean decodeLater() throws Exception {
            Object data = null;
            if (message instanceof Request request) {
                data = request.getData();
            } else if (message instanceof Response response) {
                data = response.getResult();
            }
            if (!(data instanceof Decodeable body)) {
                return false;
            }
            body.decode();
            return true;
        }

        @Override
        public String decodeError(Frame frame, Recorder.Recording stream) {
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
}
