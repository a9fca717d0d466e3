package org.dubbowire.rig.three;

import org.apache.dubbo.common.stream.StreamObserver;
import org.dubbowire.rig.proto.Leaf;

/** The same with protobuf messages, which are in no wrapper. */
public interface ProtoStreamService {
    Leaf unary(Leaf leaf);

    void countdown(Leaf from, StreamObserver<Leaf> answers);

    StreamObserver<Leaf> chat(StreamObserver<Leaf> answers);

    StreamObserver<Leaf> collect(StreamObserver<Leaf> answers);
}
