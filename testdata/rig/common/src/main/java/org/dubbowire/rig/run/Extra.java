package org.dubbowire.rig.run;

import java.util.ServiceLoader;

/** A workload with services of its own, which only some generations have (META-INF/services). */
public interface Extra {
    String name();

    /** At the provider. */
    void export() throws Exception;

    /** At the consumer. */
    void run() throws Exception;

    static Extra named(String name) {
        return ServiceLoader.load(Extra.class).stream().map(ServiceLoader.Provider::get).filter(e -> e.name().equals(name)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("unknown workload " + name));
    }
}
