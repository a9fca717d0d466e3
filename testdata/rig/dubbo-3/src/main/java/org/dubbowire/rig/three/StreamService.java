package org.dubbowire.rig.three;

import org.apache.dubbo.common.stream.StreamObserver;
import org.dubbowire.rig.edge.Node;

/** Streams of beans: each message is in a wrapper of its own. */
public interface StreamService {
    Node unary(Node node);

    /** Fails with this status of gRPC. */
    Node status(int code, String message);

    /** As many answers as the request's id says, then the end, or an error where the name is "fail". */
    void countdown(Node from, StreamObserver<Node> answers);

    /** An answer to each request. */
    StreamObserver<Node> chat(StreamObserver<Node> answers);

    /** One answer to all requests. */
    StreamObserver<Node> collect(StreamObserver<Node> answers);
}
