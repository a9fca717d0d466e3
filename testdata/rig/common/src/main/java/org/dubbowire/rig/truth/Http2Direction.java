package org.dubbowire.rig.truth;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2EventAdapter;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.util.AsciiString;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;

/** One direction of a connection: a line for each HTTP/2 frame, and for each message in its DATA frames. */
final class Http2Direction {
    private static final String[] TYPES = {"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS", "PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"};
    private static final byte[] PREFACE = ByteBufUtil.getBytes(Http2CodecUtil.connectionPrefaceBuf());
    private static final int HEADER = 9;

    private enum State { START, FRAMES, OTHER }

    private final Ends ends;
    private final String dir;
    private final boolean fromClient;
    private final ChannelHandlerContext context;
    private final ByteBuf held = Unpooled.buffer();
    private final DefaultHttp2FrameReader reader;
    private final Map<Integer, Http2Messages> streams = new HashMap<>();
    private Http2Direction answers;
    private State state = State.START;

    Http2Direction(Ends ends, String dir, boolean fromClient, ChannelHandlerContext context) {
        this.ends = ends;
        this.dir = dir;
        this.fromClient = fromClient;
        this.context = context;
        DefaultHttp2HeadersDecoder headers = new DefaultHttp2HeadersDecoder(false, Integer.MAX_VALUE);
        reader = new DefaultHttp2FrameReader(headers);
        try { // no limits: the program's own reader has them
            headers.configuration().maxHeaderTableSize(Http2CodecUtil.MAX_HEADER_TABLE_SIZE);
            reader.configuration().frameSizePolicy().maxFrameSize(Http2CodecUtil.MAX_FRAME_SIZE_UPPER_BOUND);
        } catch (Http2Exception e) {
            throw new IllegalStateException(e);
        }
    }

    void answeredBy(Http2Direction other) {
        answers = other;
    }

    void add(ByteBuf bytes) {
        if (state != State.OTHER) {
            held.discardReadBytes().writeBytes(bytes);
            run();
        }
    }

    private void run() {
        if (state == State.START) {
            start();
        }
        while (state == State.FRAMES && held.readableBytes() >= HEADER) {
            int length = HEADER + held.getUnsignedMedium(held.readerIndex());
            if (held.readableBytes() < length) {
                return;
            }
            frame(held.readSlice(length));
        }
    }

    /** The client's preface tells that the connection is HTTP/2; before it there may be a request to switch to it. */
    private void start() {
        if (!fromClient) {
            if (answers.state == State.OTHER) {
                state = State.OTHER;
                return;
            }
            while (begins("HTTP/1.1 1")) { // others may precede the one that switches
                int end = ByteBufUtil.indexOf(Unpooled.copiedBuffer("\r\n\r\n", StandardCharsets.US_ASCII), held);
                if (end < 0) {
                    return;
                }
                boolean switches = begins("HTTP/1.1 101 ");
                other("http1", end - held.readerIndex() + 4);
                if (switches) {
                    state = State.FRAMES;
                    return;
                }
            }
            if (answers.state == State.FRAMES) {
                state = State.FRAMES;
            }
            return;
        }
        int at = ByteBufUtil.indexOf(Unpooled.wrappedBuffer(PREFACE), held);
        if (at >= 0) {
            if (at > held.readerIndex()) {
                request(held.slice(held.readerIndex(), at - held.readerIndex()));
                held.readerIndex(at);
            }
            other("preface", PREFACE.length);
            state = State.FRAMES;
        } else if (held.readableBytes() >= PREFACE.length && !mayUpgrade()) {
            state = State.OTHER;
            held.clear();
        }
        answers.run();
    }

    private boolean mayUpgrade() {
        String text = held.toString(StandardCharsets.ISO_8859_1);
        int end = text.indexOf("\r\n\r\n");
        return text.contains(" HTTP/1.1\r\n") && (end < 0 || text.substring(0, end).toLowerCase().contains("\r\nupgrade: h2c"));
    }

    private boolean begins(String text) {
        return held.readableBytes() >= text.length() && held.toString(held.readerIndex(), text.length(), StandardCharsets.US_ASCII).equals(text);
    }

    private void other(String type, int bytes) {
        held.skipBytes(bytes);
        TruthLog.line(begin("http2").field("type", type).field("bytes", bytes).endObject().toString());
    }

    private void request(ByteBuf bytes) {
        Http1Request request = new Http1Request(bytes);
        Json json = begin("http2").field("type", "http1").field("stream", 1).field("bytes", bytes.readableBytes());
        Events events = new Events(json);
        events.fields(request.headers);
        TruthLog.line(json.endObject().toString());
        messages(1).headers(request.headers, request.body.length == 0);
        messages(1).data(request.body, true);
        messages(1).log(() -> begin("message").field("stream", 1));
    }

    private Json begin(String kind) {
        return TruthLine.begin(ends, dir).field("kind", kind);
    }

    private void frame(ByteBuf frame) {
        int type = frame.getUnsignedByte(3);
        int flags = frame.getUnsignedByte(4);
        int stream = frame.getInt(5) & Integer.MAX_VALUE;
        Json json = begin("http2").field("type", type < TYPES.length ? TYPES[type] : Integer.toString(type));
        json.field("stream", stream).field("flags", flags).field("bytes", frame.readableBytes() - HEADER);
        Events events = new Events(json);
        try {
            reader.readFrame(context, frame, events);
        } catch (Http2Exception | RuntimeException e) {
            json.field("error", e.toString());
        }
        TruthLog.line(json.endObject().toString());
        if (events.messages != null) {
            events.messages.log(() -> begin("message").field("stream", stream));
        }
    }

    private Http2Messages messages(int stream) {
        return streams.computeIfAbsent(stream, s -> new Http2Messages());
    }

    /** What a header holds: text where it is UTF-8, as everything that Dubbo writes is. */
    static Object text(CharSequence value) {
        byte[] bytes = value instanceof AsciiString ascii ? ascii.toByteArray() : value.toString().getBytes(StandardCharsets.ISO_8859_1);
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        } catch (CharacterCodingException e) {
            return Base64.getEncoder().encodeToString(bytes);
        }
    }

    /** What Netty's reader says of a frame. */
    private final class Events extends Http2EventAdapter {
        private final Json json;
        private Http2Messages messages;

        Events(Json json) {
            this.json = json;
        }

        @Override
        public int onDataRead(ChannelHandlerContext c, int stream, ByteBuf data, int padding, boolean end) {
            json.field("padding", padding).field("endStream", end);
            messages = messages(stream);
            byte[] bytes = ByteBufUtil.getBytes(data);
            messages.data(bytes, end);
            return bytes.length + padding;
        }

        @Override
        public void onHeadersRead(ChannelHandlerContext c, int stream, Http2Headers headers, int padding, boolean end) {
            json.field("padding", padding).field("endStream", end);
            fields(headers);
            messages = messages(stream);
            messages.headers(headers, end);
        }

        @Override
        public void onHeadersRead(ChannelHandlerContext c, int stream, Http2Headers headers, int dependency, short weight, boolean exclusive, int padding, boolean end) {
            json.field("dependency", dependency).field("weight", weight).field("exclusive", exclusive);
            onHeadersRead(c, stream, headers, padding, end);
        }

        private void fields(Http2Headers headers) {
            json.name("headers").beginArray();
            headers.forEach(field -> json.beginArray().scalar(text(field.getKey())).scalar(text(field.getValue())).endArray());
            json.endArray();
        }

        @Override
        public void onPriorityRead(ChannelHandlerContext c, int stream, int dependency, short weight, boolean exclusive) {
            json.field("dependency", dependency).field("weight", weight).field("exclusive", exclusive);
        }

        @Override
        public void onRstStreamRead(ChannelHandlerContext c, int stream, long error) {
            json.field("code", error);
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext c, Http2Settings settings) {
            json.name("settings").beginObject();
            settings.forEach((id, value) -> json.field(Integer.toString(id), value));
            json.endObject();
        }

        @Override
        public void onPingRead(ChannelHandlerContext c, long data) {
            json.field("data", data);
        }

        @Override
        public void onPingAckRead(ChannelHandlerContext c, long data) {
            json.field("data", data);
        }

        @Override
        public void onPushPromiseRead(ChannelHandlerContext c, int stream, int promised, Http2Headers headers, int padding) {
            json.field("padding", padding).field("promised", promised);
            fields(headers);
        }

        @Override
        public void onGoAwayRead(ChannelHandlerContext c, int last, long error, ByteBuf debug) {
            json.field("lastStream", last).field("code", error).field("debug", debug.toString(StandardCharsets.UTF_8));
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext c, int stream, int increment) {
            json.field("increment", increment);
        }

        @Override
        public void onUnknownFrame(ChannelHandlerContext c, byte type, int stream, Http2Flags flags, ByteBuf payload) {
            // its type and length are all there is to say
        }
    }
}
