package org.dubbowire.rig.run;

import java.util.ServiceLoader;
import java.util.function.LongConsumer;

/** A workload with services of its own, which only some generations have (META-INF/services). */
public interface Extra {
    String name();

    /** At the provider. */
    void export() throws Exception;

    /** At the consumer. */
    void run() throws Exception;

    /** A call of Load at the consumer, which many threads make at once. */
    default LongConsumer load(String method) {
        throw new UnsupportedOperationException(name() + ": no load of " + method);
    }

    static Extra named(String name) {
        return ServiceLoader.load(Extra.class).stream().map(ServiceLoader.Provider::get).filter(e -> e.name().equals(name)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("unknown workload " + name));
    }
}
