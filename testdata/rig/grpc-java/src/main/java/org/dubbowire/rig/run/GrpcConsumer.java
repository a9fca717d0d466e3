package org.dubbowire.rig.run;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.StringValue;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A client of grpc-java: each kind of call, headers of every size. */
public final class GrpcConsumer {
    private static final Metadata.Key<String> REQUEST_ID = key("x-request-id");
    private static final Metadata.Key<String> TRACE = key("x-trace");
    private static final Metadata.Key<byte[]> TOKEN = Metadata.Key.of("x-token-bin", Metadata.BINARY_BYTE_MARSHALLER);
    private final Channel channel;

    private GrpcConsumer(Channel channel) {
        this.channel = channel;
    }

    private static Metadata.Key<String> key(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }

    public static void main(String[] args) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forAddress(Settings.HOST, Settings.PORT).usePlaintext().maxInboundMetadataSize(1 << 17)
            .flowControlWindow(65535).build();
        GrpcConsumer consumer = new GrpcConsumer(ClientInterceptors.intercept(channel, new GrpcTruth()));
        for (String workload : args) {
            switch (workload) {
                case "verbs" -> consumer.verbs();
                case "multiplexed" -> consumer.multiplexed();
                default -> throw new IllegalArgumentException("unknown workload " + workload);
            }
        }
        System.out.println("DONE " + Step.summary());
        while (System.in.read() >= 0) {
            // the provider leaves first, so that its farewell is in the capture
        }
        channel.shutdownNow();
        System.exit(0);
    }

    private void verbs() throws Exception {
        Step.run("echo", () -> unary("echo hello"));
        Step.run("echo empty", () -> unary("echo "));
        Step.run("big", () -> unary("big 100000"));
        Step.run("large request", () -> unary("echo " + Data.text(100_000, 7)));
        for (int code : new int[] {1, 3, 5, 7, 14, 16}) {
            Step.fails("fail " + code, () -> unary("fail " + code));
        }
        Step.fails("details", () -> unary("details"));
        Step.fails("exception", () -> unary("nonsense"));
        Step.fails("unknown method", () -> ClientCalls.blockingUnaryCall(channel, GrpcService.NOWHERE, CallOptions.DEFAULT, StringValue.of("x")));
        Step.fails("deadline", () -> ClientCalls.blockingUnaryCall(channel, GrpcService.UNARY, CallOptions.DEFAULT.withDeadlineAfter(150, TimeUnit.MILLISECONDS),
            StringValue.of("sleep 400")));
        gzip();
        headers();
        streams();
        Thread.sleep(400);
    }

    private void gzip() {
        CallOptions packed = CallOptions.DEFAULT.withCompression("gzip");
        Metadata want = new Metadata();
        want.put(GrpcProvider.WANT, "gzip");
        Channel both = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(want));
        for (String text : new String[] {"echo a", "echo " + "packed ".repeat(300), "big 20000"}) {
            Step.run("gzip", () -> ClientCalls.blockingUnaryCall(both, GrpcService.UNARY, packed, StringValue.of(text)));
        }
        Step.run("gzip answer", () -> ClientCalls.blockingUnaryCall(both, GrpcService.UNARY, CallOptions.DEFAULT, StringValue.of("big 3000")));
    }

    /** Blocks that need CONTINUATION, and more distinct values than a table holds. */
    private void headers() {
        for (int size : new int[] {100, 4000, 20_000, 50_000}) {
            Metadata headers = new Metadata();
            headers.put(TRACE, Data.text(size, size));
            headers.put(TOKEN, new byte[] {0, 1, 2, -1, (byte) size});
            headers.put(GrpcProvider.WANT, "headers " + size);
            Channel with = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
            Step.run("headers " + size, () -> ClientCalls.blockingUnaryCall(with, GrpcService.UNARY, CallOptions.DEFAULT, StringValue.of("echo headers")));
        }
        for (int i = 0; i < 60; i++) {
            Metadata headers = new Metadata();
            headers.put(REQUEST_ID, Data.uuid(i));
            headers.put(TRACE, "span " + i % 7 + " of " + Data.text(80 + i, i % 7));
            Channel with = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
            int n = i;
            Step.run("distinct headers", () -> ClientCalls.blockingUnaryCall(with, GrpcService.UNARY, CallOptions.DEFAULT, StringValue.of("echo " + n)));
        }
    }

    private void streams() {
        Step.run("countdown", () -> count(ClientCalls.blockingServerStreamingCall(channel, GrpcService.COUNTDOWN, CallOptions.DEFAULT, StringValue.of("20"))));
        Step.run("countdown nothing", () -> count(ClientCalls.blockingServerStreamingCall(channel, GrpcService.COUNTDOWN, CallOptions.DEFAULT, StringValue.of("0"))));
        Step.run("collect", () -> send(GrpcService.COLLECT, CallOptions.DEFAULT, 10));
        Step.run("collect nothing", () -> send(GrpcService.COLLECT, CallOptions.DEFAULT, 0));
        Step.run("collect gzip", () -> send(GrpcService.COLLECT, CallOptions.DEFAULT.withCompression("gzip"), 5));
        Step.run("chat", () -> send(GrpcService.CHAT, CallOptions.DEFAULT, 8));
        Step.run("cancel", () -> {
            Answers answers = new Answers();
            StreamObserver<StringValue> requests = ClientCalls.asyncBidiStreamingCall(channel.newCall(GrpcService.CHAT, CallOptions.DEFAULT), answers);
            requests.onNext(StringValue.of("and no more"));
            answers.first.get(5, TimeUnit.SECONDS);
            ((ClientCallStreamObserver<StringValue>) requests).cancel("given up", null);
            Thread.sleep(100);
        });
    }

    private void multiplexed() {
        Step.run("first", () -> unary("echo first"));
        Step.run("multiplexed", () -> {
            List<ListenableFuture<StringValue>> calls = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                int length = i % 50 == 25 ? 40_000 + i : i;
                calls.add(ClientCalls.futureUnaryCall(channel.newCall(GrpcService.UNARY, CallOptions.DEFAULT), StringValue.of("echo " + i + " " + Data.text(length, i))));
            }
            for (ListenableFuture<StringValue> call : calls) {
                call.get(20, TimeUnit.SECONDS);
            }
        });
    }

    private void unary(String text) {
        ClientCalls.blockingUnaryCall(channel, GrpcService.UNARY, CallOptions.DEFAULT, StringValue.of(text));
    }

    private static void count(Iterator<StringValue> answers) {
        answers.forEachRemaining(answer -> { });
    }

    private void send(MethodDescriptor<StringValue, StringValue> method, CallOptions options, int count) throws Exception {
        Answers answers = new Answers();
        StreamObserver<StringValue> requests = ClientCalls.asyncBidiStreamingCall(channel.newCall(method, options), answers);
        for (int i = 0; i < count; i++) {
            requests.onNext(StringValue.of("request " + i + " ".repeat(i * 20)));
        }
        requests.onCompleted();
        answers.ended.get(10, TimeUnit.SECONDS);
    }

    private static final class Answers implements StreamObserver<StringValue> {
        final CompletableFuture<Void> first = new CompletableFuture<>();
        final CompletableFuture<Void> ended = new CompletableFuture<>();

        @Override
        public void onNext(StringValue message) {
            first.complete(null);
        }

        @Override
        public void onError(Throwable failure) {
            first.completeExceptionally(failure);
            ended.completeExceptionally(failure);
        }

        @Override
        public void onCompleted() {
            ended.complete(null);
        }
    }
}
