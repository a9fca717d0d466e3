package org.dubbowire.rig.three;

import java.util.Arrays;
import java.util.List;
import org.apache.dubbo.common.extension.Activate;
import org.apache.dubbo.rpc.Filter;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.Result;
import org.dubbowire.rig.truth.CallLine;

/**
 * The truth of protocols that have no codec of Dubbo's own to listen at (Triple, REST): one line for each call, at both ends,
 * when it is answered.
 */
@Activate(group = {"consumer", "provider"}, order = Integer.MAX_VALUE)
public final class CallTruth implements Filter {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) {
        Result answer = invoker.invoke(invocation);
        String protocol = invoker.getUrl().getProtocol();
        if (protocol.equals("dubbo") || protocol.equals("injvm")) {
            return answer; // logged at the codec, or never on the wire
        }
        List<String> types = Arrays.stream(invocation.getParameterTypes()).map(Class::getName).toList();
        CallLine call = new CallLine(protocol, invoker.getUrl().getAddress(), invocation.getServiceName(), invoker.getUrl().getVersion(),
            invoker.getUrl().getGroup(), invocation.getMethodName(), types, invocation.getArguments());
        return answer.whenCompleteWithContext((result, failure) -> {
            if (failure != null || result.hasException()) {
                call.failed(failure != null ? failure : result.getException());
            } else {
                call.answered(result.getValue());
            }
        });
    }
}
