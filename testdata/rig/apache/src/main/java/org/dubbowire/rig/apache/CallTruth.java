package org.dubbowire.rig.apache;

import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
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
public class CallTruth implements Filter {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) {
        String protocol = invoker.getUrl().getProtocol();
        if (protocol.equals("dubbo") || protocol.equals("injvm")) { // at the codec, or never on the wire
            return invoker.invoke(invocation);
        }
        List<String> types = Arrays.stream(invocation.getParameterTypes()).map(Class::getName).toList();
        CallLine call = new CallLine(protocol, invoker.getUrl().getAddress(), invoker.getUrl().getServiceInterface(), invoker.getUrl().getParameter("version"),
            invoker.getUrl().getParameter("group"), invocation.getMethodName(), types, invocation.getArguments(),
            new TreeMap<>(invocation.getObjectAttachments())); // to which Dubbo adds its own on the way
        Result answer;
        try {
            answer = invoker.invoke(invocation);
        } catch (RuntimeException e) { // 3.0 and 3.1 throw what came over the wire
            call.failed(e);
            throw e;
        }
        return answer.whenCompleteWithContext((result, failure) -> {
            if (result != null && !result.getObjectAttachments().isEmpty()) {
                call.beside(new TreeMap<>(result.getObjectAttachments()));
            }
            if (failure != null || result.hasException()) {
                call.failed(failure != null ? failure : result.getException());
            } else {
                call.answered(result.getValue());
            }
        });
    }
}
