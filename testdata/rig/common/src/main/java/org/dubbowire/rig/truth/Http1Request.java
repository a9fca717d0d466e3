package org.dubbowire.rig.truth;

import io.netty.buffer.ByteBuf;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayOutputStream;
import java.util.Locale;

/** The request of HTTP/1.1 that asks to switch to HTTP/2, as Netty reads it: that of stream 1. */
final class Http1Request {
    final Http2Headers headers = new DefaultHttp2Headers(false);
    final byte[] body;

    Http1Request(ByteBuf bytes) {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpRequestDecoder());
        channel.writeInbound(bytes.copy());
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
            if (part instanceof HttpRequest request) {
                headers.method(request.method().name()).path(request.uri());
                request.headers().forEach(field -> headers.add(field.getKey().toLowerCase(Locale.ROOT), field.getValue()));
            }
            if (part instanceof HttpContent some) {
                byte[] chunk = new byte[some.content().readableBytes()];
                some.content().readBytes(chunk);
                content.writeBytes(chunk);
                some.release();
            }
        }
        channel.finishAndReleaseAll();
        body = content.toByteArray();
    }
}
