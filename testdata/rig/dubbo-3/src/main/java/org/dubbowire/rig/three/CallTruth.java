package org.dubbowire.rig.three;

import java.util.Arrays;
import org.apache.dubbo.common.extension.Activate;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.Result;

/** Streaming calls log themselves. */
@Activate(group = {"consumer", "provider"}, order = Integer.MAX_VALUE)
public final class CallTruth extends org.dubbowire.rig.apache.CallTruth {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) {
        boolean streaming = Arrays.stream(invocation.getArguments()).anyMatch(StreamObserver.class::isInstance);
        if (streaming || Arrays.asList(invocation.getParameterTypes()).contains(StreamObserver.class)) {
            return invoker.invoke(invocation);
        }
        return super.invoke(invoker, invocation);
    }
}
