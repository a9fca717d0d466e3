package org.dubbowire.rig.proxies;

import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.dubbo.common.extension.Activate;
import org.apache.dubbo.rpc.Filter;
import org.apache.dubbo.rpc.Invocation;
import org.apache.dubbo.rpc.Invoker;
import org.apache.dubbo.rpc.Result;
import org.dubbowire.rig.truth.CallLine;

/** One line for each call, at both ends, when it is answered. */
@Activate(group = {"consumer", "provider"}, order = Integer.MAX_VALUE)
public final class ProxyTruth implements Filter {
    @Override
    public Result invoke(Invoker<?> invoker, Invocation invocation) {
        List<String> types = Arrays.stream(invocation.getParameterTypes()).map(Class::getName).toList();
        CallLine call = new CallLine(invoker.getUrl().getProtocol(), invoker.getUrl().getAddress(), invoker.getUrl().getServiceInterface(), invoker.getUrl().getParameter("version"),
            invoker.getUrl().getParameter("group"), invocation.getMethodName(), types, invocation.getArguments(), new TreeMap<>(invocation.getObjectAttachments()));
        Result answer;
        try {
            answer = invoker.invoke(invocation);
        } catch (RuntimeException e) {
            call.failed(e);
            throw e;
        }
        return answer.whenCompleteWithContext((result, failure) -> {
            if (failure != null || result.hasException()) {
                call.failed(failure != null ? failure : result.getException());
            } else {
                call.answered(result.getValue());
            }
        });
    }
}
