package org.dubbowire.rig.run;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.ForwardingClientCallListener.SimpleForwardingClientCallListener;
import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.util.Map;
import java.util.TreeMap;
import org.dubbowire.rig.truth.StreamLine;

/** The truth of calls at both ends. */
final class GrpcTruth implements ClientInterceptor, ServerInterceptor {
    private static StreamLine line(MethodDescriptor<?, ?> method, Metadata headers) {
        StreamLine line = new StreamLine("grpc", Settings.urlHost() + ":" + Settings.PORT, method.getServiceName(), method.getBareMethodName());
        Map<String, Object> attachments = new TreeMap<>();
        for (String key : headers.keys()) {
            attachments.put(key, key.endsWith(Metadata.BINARY_HEADER_SUFFIX) ? headers.get(Metadata.Key.of(key, Metadata.BINARY_BYTE_MARSHALLER))
                : headers.get(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER)));
        }
        line.attachments(attachments);
        return line;
    }

    private static void end(StreamLine line, Status status) {
        line.ended(status.isOk() ? null : status.asRuntimeException(), status.getCode().value());
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel next) {
        return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
            private StreamLine line;

            @Override
            public void start(Listener<A> listener, Metadata headers) {
                line = line(method, headers);
                super.start(new SimpleForwardingClientCallListener<>(listener) {
                    @Override
                    public void onMessage(A message) {
                        line.response(message);
                        super.onMessage(message);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        end(line, status);
                        super.onClose(status, trailers);
                    }
                }, headers);
            }

            @Override
            public void sendMessage(Q message) {
                line.request(message);
                super.sendMessage(message);
            }
        };
    }

    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        StreamLine line = line(call.getMethodDescriptor(), headers);
        ServerCall<Q, A> logged = new SimpleForwardingServerCall<>(call) {
            @Override
            public void sendMessage(A message) {
                line.response(message);
                super.sendMessage(message);
            }

            @Override
            public void close(Status status, Metadata trailers) {
                end(line, status);
                super.close(status, trailers);
            }
        };
        return new SimpleForwardingServerCallListener<>(next.startCall(logged, headers)) {
            @Override
            public void onMessage(Q message) {
                line.request(message);
                super.onMessage(message);
            }

            @Override
            public void onCancel() {
                end(line, Status.CANCELLED);
                super.onCancel();
            }
        };
    }
}
