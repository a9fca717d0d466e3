package org.dubbowire.rig.run;

import com.google.protobuf.StringValue;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.protobuf.ProtoUtils;

/** The service rig.Verbs: a text says what shall happen ("big 5000"). grpc-go has the same. */
final class GrpcService {
    static final String NAME = "rig.Verbs";
    static final MethodDescriptor<StringValue, StringValue> UNARY = method("Unary", MethodType.UNARY);
    static final MethodDescriptor<StringValue, StringValue> COUNTDOWN = method("Countdown", MethodType.SERVER_STREAMING);
    static final MethodDescriptor<StringValue, StringValue> COLLECT = method("Collect", MethodType.CLIENT_STREAMING);
    static final MethodDescriptor<StringValue, StringValue> CHAT = method("Chat", MethodType.BIDI_STREAMING);
    /** Nobody has it. */
    static final MethodDescriptor<StringValue, StringValue> NOWHERE = method("Nowhere", MethodType.UNARY);

    private GrpcService() {
    }

    private static MethodDescriptor<StringValue, StringValue> method(String name, MethodType type) {
        return MethodDescriptor.<StringValue, StringValue>newBuilder().setType(type).setFullMethodName(MethodDescriptor.generateFullMethodName(NAME, name))
            .setRequestMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance()))
            .setResponseMarshaller(ProtoUtils.marshaller(StringValue.getDefaultInstance())).build();
    }
}
