package org.dubbowire.rig.run;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.HttpConversionUtil;
import io.netty.handler.codec.http2.HttpToHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.InboundHttp2ToHttpAdapterBuilder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** A client of HTTP/2 that knows that the server speaks it: the connection begins with the preface. One call at a time. */
final class Http2Web extends Web {
    private static final boolean ASKED = System.getProperty("rig.http", "HTTP_1_1").equals("HTTP_2");
    private final LinkedBlockingQueue<Answer> answers = new LinkedBlockingQueue<>();
    private final Channel channel;

    private Http2Web() throws InterruptedException {
        NioEventLoopGroup threads = new NioEventLoopGroup(1, task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        channel = new Bootstrap().group(threads).channel(NioSocketChannel.class).handler(new ChannelInitializer<Channel>() {
            @Override
            protected void initChannel(Channel opened) {
                DefaultHttp2Connection connection = new DefaultHttp2Connection(false);
                opened.pipeline().addLast(new HttpToHttp2ConnectionHandlerBuilder().connection(connection)
                    .frameListener(new InboundHttp2ToHttpAdapterBuilder(connection).maxContentLength(1 << 24).propagateSettings(false).build()).build());
                opened.pipeline().addLast(new SimpleChannelInboundHandler<FullHttpResponse>() {
                    @Override
                    protected void channelRead0(ChannelHandlerContext context, FullHttpResponse answer) {
                        answers.add(new Answer(answer.status().code(), answer.content().toString(StandardCharsets.UTF_8)));
                    }

                    @Override
                    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
                        answers.add(new Answer(0, cause.toString()));
                    }
                });
            }
        }).connect(Settings.HOST, Settings.PORT).sync().channel();
    }

    /** The client that the setting rig.http asks for: HTTP_1_1, or HTTP_2 without asking the server. */
    static Web any() throws InterruptedException {
        return ASKED ? new Http2Web() : new Web();
    }

    /** The client of a thread: all share that of HTTP/1.1, which opens a connection for each call that is made at the same time. */
    static Supplier<Web> ofThreads() {
        if (!ASKED) {
            Web shared = new Web();
            return () -> shared;
        }
        ThreadLocal<Web> own = ThreadLocal.withInitial(() -> {
            try {
                return new Http2Web();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        return own::get;
    }

    @Override
    protected Answer send(String verb, String path, byte[] body, String... headers) throws Exception {
        FullHttpRequest request = new DefaultFullHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.valueOf(verb), path, body == null ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(body));
        request.headers().set("host", Settings.urlHost() + ":" + Settings.PORT).set(HttpConversionUtil.ExtensionHeaderNames.SCHEME.text(), "http");
        for (int i = 0; i < headers.length; i += 2) {
            request.headers().add(headers[i], headers[i + 1]);
        }
        channel.writeAndFlush(request).sync();
        Answer answer = answers.poll(20, TimeUnit.SECONDS);
        if (answer == null || answer.status() == 0) {
            throw new IllegalStateException(answer == null ? "no answer" : answer.body());
        }
        return answer;
    }
}
