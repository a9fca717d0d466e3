package org.dubbowire.rig.truth;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseDecoder;
import io.netty.handler.codec.http.LastHttpContent;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.Queue;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;

/**
 * One direction of an HTTP/1 connection: a line for each message. Netty's decoder reads along, one byte at a time, so that it tells which byte is the last one
 * of a head and of a message. A connection that becomes HTTP/2 (its preface, or a switch) is no concern of this class from then on.
 */
final class Http1Direction {
    private static final int NO_LIMIT = 1 << 20;

    private final Ends ends;
    private final String dir;
    private final EmbeddedChannel decoder;
    /** The methods of requests without an answer yet. */
    private final Queue<String> asked = new ArrayDeque<>();
    private final Http1Direction requests;
    private final ByteArrayOutputStream wire = new ByteArrayOutputStream();
    private final ByteArrayOutputStream content = new ByteArrayOutputStream();
    private String askedNow;
    private HttpMessage message;
    private byte[] head;
    private int messages;
    private boolean over;
    /** Whether requests ended with the preface of HTTP/2. */
    private boolean http2;

    /** requests: the other direction, where this one has responses; else null. */
    Http1Direction(Ends ends, String dir, Http1Direction requests) {
        this.ends = ends;
        this.dir = dir;
        this.requests = requests;
        decoder = new EmbeddedChannel(requests == null ? new HttpRequestDecoder(NO_LIMIT, NO_LIMIT, NO_LIMIT, false) : new HttpResponseDecoder(NO_LIMIT, NO_LIMIT, NO_LIMIT, false) {
            @Override
            protected boolean isContentAlwaysEmpty(HttpMessage response) {
                int status = ((HttpResponse) response).status().code();
                if (status >= 200 || status == 101) {
                    askedNow = requests.asked.poll();
                    if ("HEAD".equals(askedNow)) {
                        return true;
                    }
                }
                return super.isContentAlwaysEmpty(response);
            }
        });
    }

    void add(byte[] bytes) {
        for (byte b : bytes) {
            if (over || requests != null && requests.http2) {
                return;
            }
            wire.write(b);
            decoder.writeInbound(Unpooled.wrappedBuffer(new byte[] {b}));
            drain();
        }
    }

    /** Nothing follows: a body may end here, and a message may be cut. */
    void end() {
        if (over || requests != null && requests.http2) {
            return;
        }
        decoder.finish();
        drain();
        if (wire.size() > 0) {
            log("cut");
        }
        over = true;
    }

    private void drain() {
        for (HttpObject part = decoder.readInbound(); part != null; part = decoder.readInbound()) {
            if (part instanceof HttpMessage start) {
                message = start;
                head = wire.toByteArray();
            }
            if (part instanceof HttpContent some) {
                content.writeBytes(ByteBufUtil.getBytes(some.content()));
                some.release();
            }
            if (part.decoderResult().isFailure()) {
                log(part.decoderResult().cause().toString());
                over = true;
                return;
            }
            if (part instanceof LastHttpContent last) {
                log(null, last.trailingHeaders());
                if (message instanceof HttpRequest request) {
                    asked.add(request.method().name());
                    http2 = request.method().name().equals("PRI");
                    over = http2;
                } else {
                    over = ((HttpResponse) message).status().code() == 101;
                    requests.over |= over;
                }
                message = null;
                head = null;
            }
        }
    }

    private void log(String error) {
        log(error, null);
    }

    private void log(String error, HttpHeaders trailers) {
        byte[] all = wire.toByteArray();
        int headBytes = head == null ? all.length : head.length;
        Json json = TruthLine.begin(ends, dir).field("kind", "http1message").field("message", ++messages);
        String start = new String(all, 0, headBytes, StandardCharsets.ISO_8859_1).lines().findFirst().orElse("");
        json.field("start", Http2Direction.text(start));
        if (message instanceof HttpRequest request) {
            json.field("method", request.method().name()).field("path", Http2Direction.text(request.uri()));
        } else if (message instanceof HttpResponse response) {
            json.field("status", response.status().code());
            if (askedNow != null && response.status().code() >= 200) {
                json.field("of", askedNow);
            }
        }
        if (message != null) {
            headers(json, new String(head, StandardCharsets.ISO_8859_1));
        }
        if (trailers != null && !trailers.isEmpty()) {
            json.name("trailers").beginArray();
            for (Map.Entry<String, String> field : trailers) {
                field(json, field.getKey(), field.getValue());
            }
            json.endArray();
        }
        json.field("headBytes", headBytes).field("bodyBytes", all.length - headBytes);
        if (message != null) {
            body(json);
        }
        if (error != null) {
            json.field("error", error);
        }
        TruthLog.line(json.endObject().toString());
        wire.reset();
        content.reset();
    }

    private void body(Json json) {
        byte[] bytes = content.toByteArray();
        boolean chunked = message.headers().containsValue("transfer-encoding", "chunked", true);
        json.field("chunked", chunked).field("contentBytes", bytes.length).field("contentSha256", TruthLine.sha256(bytes, 0, bytes.length));
        String encoding = message.headers().get("content-encoding");
        if (encoding != null && bytes.length > 0) {
            try {
                byte[] plain = unpack(encoding, bytes);
                json.field("encoding", encoding).field("uncompressedBytes", plain.length).field("uncompressedSha256", TruthLine.sha256(plain, 0, plain.length));
            } catch (IOException e) {
                json.field("encoding", encoding).field("encodingError", e.toString());
            }
        }
    }

    private static byte[] unpack(String encoding, byte[] bytes) throws IOException {
        return switch (encoding) {
            case "gzip" -> new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
            case "deflate" -> new InflaterInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
            case "identity" -> bytes;
            default -> throw new IOException("no reader for " + encoding);
        };
    }

    /** The fields as they were sent: Netty writes those of lengths anew. A line that goes on in the next one is one value. */
    private static void headers(Json json, String head) {
        json.name("headers").beginArray();
        String lines = head.strip().replaceAll("\r?\n[ \t]+", " ");
        for (String line : lines.lines().skip(1).toList()) {
            int colon = line.indexOf(':');
            field(json, colon < 0 ? line : line.substring(0, colon), colon < 0 ? "" : line.substring(colon + 1).strip());
        }
        json.endArray();
    }

    private static void field(Json json, String name, String value) {
        json.beginArray().scalar(Http2Direction.text(name)).scalar(Http2Direction.text(value)).endArray();
    }
}
