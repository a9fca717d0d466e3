package org.dubbowire.rig.thrift;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.dubbowire.rig.truth.CallLine;

/** Either end of the service, with a line for each call when it has ended. */
public final class Logged {
    private Logged() {
    }

    public static Catalog.Iface of(Catalog.Iface end, String protocol, String provider) {
        return (Catalog.Iface) Proxy.newProxyInstance(Logged.class.getClassLoader(), new Class<?>[] {Catalog.Iface.class}, (proxy, method, given) -> {
            if (method.getDeclaringClass() == Object.class) {
                return method.invoke(end, given);
            }
            Object[] arguments = given == null ? new Object[0] : given;
            CallLine line = new CallLine(protocol, provider, Catalog.Iface.class.getName(), null, null, method.getName(),
                Arrays.stream(method.getParameterTypes()).map(Class::getName).toList(), arguments, null);
            try {
                Object result = method.invoke(end, arguments);
                line.answered(result);
                return result;
            } catch (InvocationTargetException e) {
                line.failed(e.getCause());
                throw e.getCause();
            }
        });
    }
}
