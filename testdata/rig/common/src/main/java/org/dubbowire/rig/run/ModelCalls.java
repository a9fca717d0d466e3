package org.dubbowire.rig.run;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.Comparator;
import java.util.concurrent.atomic.AtomicInteger;
import org.dubbowire.rig.models.Service;

/** All methods of the models' service, with random graphs both ways. -Drig.seed chooses the values, -Drig.rounds how often each method is called. */
public final class ModelCalls implements Extra {
    private static final long SEED = Long.getLong("rig.seed", 1);
    private static final int ROUNDS = Integer.getInteger("rig.rounds", 1);
    private static final int FAILURES = 9; // each n-th call fails

    @Override
    public String name() {
        return "models";
    }

    @Override
    public void export() {
        AtomicInteger calls = new AtomicInteger();
        Peer.CURRENT.export(Service.class, (Service) Proxy.newProxyInstance(ModelCalls.class.getClassLoader(), new Class<?>[] {Service.class}, (proxy, method, arguments) -> {
            switch (method.getName()) {
                case "toString":
                    return "models";
                case "hashCode":
                    return 1;
                case "equals":
                    return proxy == arguments[0];
                default:
                    int n = calls.incrementAndGet();
                    Models models = new Models(SEED * 1000 + n, Service.class);
                    if (n % FAILURES == 0 && models.throwable() instanceof RuntimeException e) {
                        throw n % 2 == 0 ? e : new IllegalStateException("around", models.throwable());
                    }
                    return models.value(method.getGenericReturnType());
            }
        }), null, null);
    }

    @Override
    public void run() {
        Service service = Remote.of(Service.class).get();
        Method[] methods = Service.class.getMethods();
        Arrays.sort(methods, Comparator.comparing(Method::getName));
        Models models = new Models(-SEED, Service.class);
        for (int round = 0; round < ROUNDS; round++) {
            for (Method m : methods) {
                call(service, m, models);
            }
        }
    }

    private static void call(Service service, Method m, Models models) {
        Object[] arguments = Arrays.stream(m.getGenericParameterTypes()).map((Type t) -> models.value(t)).toArray();
        Step.run(m.getName(), () -> {
            try {
                m.invoke(service, arguments);
            } catch (InvocationTargetException e) {
                if (!(e.getCause() instanceof IllegalStateException || e.getCause().getClass().getName().startsWith("org.dubbowire.rig.models."))) {
                    throw e.getCause() instanceof Exception x ? x : new RuntimeException(e.getCause());
                }
            }
        });
    }
}
