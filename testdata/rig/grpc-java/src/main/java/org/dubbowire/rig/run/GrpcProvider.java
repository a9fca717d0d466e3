package org.dubbowire.rig.run;

import com.google.protobuf.Any;
import com.google.protobuf.StringValue;
import io.grpc.Context;
import io.grpc.Contexts;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;

/** A server of grpc-java. */
public final class GrpcProvider {
    static final Metadata.Key<String> WANT = Metadata.Key.of("x-want", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> ANSWER = Metadata.Key.of("x-answer", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<byte[]> BYTES = Metadata.Key.of("x-answer-bin", Metadata.BINARY_BYTE_MARSHALLER);

    private GrpcProvider() {
    }

    public static void main(String[] args) throws Exception {
        ServerServiceDefinition service = ServerServiceDefinition.builder(GrpcService.NAME)
            .addMethod(GrpcService.UNARY, ServerCalls.asyncUnaryCall(GrpcProvider::unary))
            .addMethod(GrpcService.COUNTDOWN, ServerCalls.asyncServerStreamingCall(GrpcProvider::countdown))
            .addMethod(GrpcService.COLLECT, ServerCalls.asyncClientStreamingCall(GrpcProvider::collect))
            .addMethod(GrpcService.CHAT, ServerCalls.asyncBidiStreamingCall(GrpcProvider::chat)).build();
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(Settings.HOST, Settings.PORT)).maxInboundMetadataSize(1 << 17)
            .flowControlWindow(65535).addService(ServerInterceptors.intercept(service, new Wishes(), new GrpcTruth())).build().start();
        System.out.println("READY grpc-java");
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                server.shutdown().awaitTermination(1, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }));
        server.awaitTermination();
    }

    private static StringValue text(String text) {
        return StringValue.of(text);
    }

    private static void unary(StringValue request, StreamObserver<StringValue> answer) {
        String[] words = request.getValue().split(" ", 2);
        switch (words[0]) {
            case "echo" -> answer.onNext(text(words[1]));
            case "big" -> answer.onNext(text(Data.text(Integer.parseInt(words[1]), 5)));
            case "sleep" -> {
                try {
                    Thread.sleep(Integer.parseInt(words[1]));
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                answer.onNext(text("slept"));
            }
            case "fail" -> throw Status.fromCodeValue(Integer.parseInt(words[1])).withDescription("refused: 库存 100 %").asRuntimeException();
            case "details" -> throw details();
            default -> throw new IllegalArgumentException(words[0]); // UNKNOWN
        }
        answer.onCompleted();
    }

    private static StatusRuntimeException details() {
        return StatusProto.toStatusRuntimeException(com.google.rpc.Status.newBuilder().setCode(Status.Code.FAILED_PRECONDITION.value())
            .setMessage("with details").addDetails(Any.pack(text("the detail"))).build());
    }

    private static void countdown(StringValue request, StreamObserver<StringValue> answer) {
        for (int i = Integer.parseInt(request.getValue()); i > 0; i--) {
            answer.onNext(text("answer " + i));
        }
        answer.onCompleted();
    }

    private static StreamObserver<StringValue> collect(StreamObserver<StringValue> answer) {
        return new GrpcStream() {
            private int count;

            @Override
            public void onNext(StringValue message) {
                count++;
            }

            @Override
            public void onCompleted() {
                answer.onNext(text(count + " messages"));
                answer.onCompleted();
            }
        };
    }

    private static StreamObserver<StringValue> chat(StreamObserver<StringValue> answer) {
        return new GrpcStream() {
            @Override
            public void onNext(StringValue message) {
                answer.onNext(message);
            }

            @Override
            public void onCompleted() {
                answer.onCompleted();
            }
        };
    }

    /** Answers as the header x-want says: "gzip", or "headers N" for headers and trailers of that many bytes. */
    private static final class Wishes implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            String want = headers.get(WANT);
            if (want == null) {
                return Contexts.interceptCall(Context.current(), call, headers, next);
            }
            if (want.equals("gzip")) {
                call.setCompression("gzip");
                return next.startCall(call, headers);
            }
            String value = Data.text(Integer.parseInt(want.substring("headers ".length())), 3);
            return next.startCall(new SimpleForwardingServerCall<>(call) {
                @Override
                public void sendHeaders(Metadata answer) {
                    answer.put(ANSWER, value);
                    answer.put(BYTES, new byte[] {0, 1, 2, -1});
                    super.sendHeaders(answer);
                }

                @Override
                public void close(Status status, Metadata trailers) {
                    trailers.put(ANSWER, value);
                    super.close(status, trailers);
                }
            }, headers);
        }
    }
}
