package org.dubbowire.rig.truth;

import io.netty.bootstrap.ChannelInitializerExtension;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ServerChannel;
import java.net.InetSocketAddress;

/**
 * Logs the HTTP/2 frames of every connection that Netty opens or accepts in this JVM. Netty loads it with
 * -Dio.netty.bootstrap.extensions=serviceload, whatever program uses Netty.
 *
 * It stands between the socket and the program's own handlers and hands every byte on as it is. A second reader of
 * Netty's (frames, HPACK) reads along in each direction.
 */
public final class Http2Truth extends ChannelInitializerExtension {
    @Override
    public void postInitializeClientChannel(Channel channel) {
        channel.pipeline().addFirst(new Tap(false));
    }

    /** Accepted connections get theirs before the program's own handlers: some servers write at once. */
    @Override
    public void postInitializeServerListenerChannel(ServerChannel channel) {
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext context, Object accepted) {
                ((Channel) accepted).pipeline().addFirst(new Tap(true));
                context.fireChannelRead(accepted);
            }
        });
    }

    private static final class Tap extends ChannelDuplexHandler {
        private final boolean server;
        private Http2Direction in;
        private Http2Direction out;

        Tap(boolean server) {
            this.server = server;
        }

        @Override
        public void channelRead(ChannelHandlerContext context, Object message) {
            see(context, message, true);
            context.fireChannelRead(message);
        }

        @Override
        public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
            see(context, message, false);
            context.write(message, promise);
        }

        private void see(ChannelHandlerContext context, Object message, boolean received) {
            if (!(message instanceof ByteBuf bytes)) {
                return;
            }
            if (in == null) {
                Ends ends = new Ends((InetSocketAddress) context.channel().localAddress(), (InetSocketAddress) context.channel().remoteAddress());
                in = new Http2Direction(ends, "in", server, context);
                out = new Http2Direction(ends, "out", !server, context);
                in.answeredBy(out);
                out.answeredBy(in);
            }
            (received ? in : out).add(bytes.duplicate());
        }
    }
}
