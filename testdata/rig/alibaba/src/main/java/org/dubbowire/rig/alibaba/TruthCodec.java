package org.dubbowire.rig.alibaba;

import com.alibaba.dubbo.remoting.Channel;
import com.alibaba.dubbo.remoting.Codec2;
import com.alibaba.dubbo.remoting.Decodeable;
import com.alibaba.dubbo.remoting.buffer.ChannelBuffer;
import com.alibaba.dubbo.remoting.exchange.Request;
import com.alibaba.dubbo.remoting.exchange.Response;
import com.alibaba.dubbo.remoting.exchange.support.MultiMessage;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.dubbowire.rig.run.Settings;
import org.dubbowire.rig.truth.CodecTruth;
import org.dubbowire.rig.truth.Ends;
import org.dubbowire.rig.truth.Frame;
import org.dubbowire.rig.truth.Recorder;

/**
 * Dubbo wraps its "dubbo" codec in this class (the constructor makes it a wrapper extension). Bytes and messages pass
 * unchanged; what passed is logged: the headers from the bytes, the values from what the serialization was given.
 */
public final class TruthCodec implements Codec2 {
    /** Only the module of 2.6 has it. */
    private static final String FORK_CODEC = "com.alibaba.dubbo.rpc.protocol.dubbo.ForkCodec";
    private final Codec2 delegate;

    public TruthCodec(Codec2 delegate) throws ReflectiveOperationException {
        this.delegate = delegate;
        if (!Settings.LAYOUT.isEmpty() && delegate.getClass().getSimpleName().equals("DubboCountCodec")) {
            Field codec = delegate.getClass().getDeclaredField("codec");
            codec.setAccessible(true);
            codec.set(delegate, Class.forName(FORK_CODEC).getConstructor(String.class).newInstance(Settings.LAYOUT));
        }
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
                return String.valueOf(request.getData());
            }
            if (message instanceof Response response && frame.isDubbo() && response.getStatus() != frame.status()) {
                return response.getErrorMessage();
            }
            return null;
        }
    }
}
