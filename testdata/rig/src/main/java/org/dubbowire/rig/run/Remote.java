package org.dubbowire.rig.run;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.dubbo.config.MethodConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.rpc.service.GenericService;
import org.dubbowire.rig.edge.EdgeService;

/** Builds references to the provider, without a registry. */
final class Remote<T> {
    private final ReferenceConfig<T> reference = new ReferenceConfig<>();
    private final Map<String, String> parameters = new HashMap<>();
    private final List<MethodConfig> methods = new ArrayList<>();
    private String serialization = Settings.SERIALIZATION;
    private String path;
    private final String type;

    private Remote(Class<T> type, String name) {
        this.type = name;
        if (type == null) {
            reference.setInterface(name);
        } else {
            reference.setInterface(type);
        }
        reference.setApplication(Provider.application("rig-consumer"));
        reference.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        reference.setTimeout(20000);
        reference.setRetries(0);
        reference.setCheck(false);
        if (type == EdgeService.class) {
            // A registry would hand over the provider's parameters; without one the consumer must name the callback.
            parameters.put("subscribe.2.callback", "true");
        }
    }

    static <T> Remote<T> of(Class<T> type) {
        return new Remote<>(type, type.getName());
    }

    /** A reference without the interface: the call goes out as $invoke. */
    static Remote<GenericService> generic(String type, String mode) {
        Remote<GenericService> remote = new Remote<>(null, type);
        remote.reference.setGeneric(mode);
        return remote;
    }

    Remote<T> group(String group, String version) {
        reference.setGroup(group);
        reference.setVersion(version);
        return this;
    }

    Remote<T> timeout(int millis) {
        reference.setTimeout(millis);
        return this;
    }

    Remote<T> path(String otherPath) {
        path = otherPath;
        return this;
    }

    Remote<T> serialization(String name) {
        serialization = name;
        return this;
    }

    Remote<T> connections(int own) {
        reference.setConnections(own);
        return this;
    }

    Remote<T> method(String name, java.util.function.Consumer<MethodConfig> settings) {
        MethodConfig method = new MethodConfig();
        method.setName(name);
        settings.accept(method);
        methods.add(method);
        return this;
    }

    T get() {
        parameters.put("serialization", serialization);
        parameters.put("heartbeat", Integer.toString(Settings.HEARTBEAT));
        parameters.put("heartbeat.timeout", "200000"); // a busy machine must not look like a dead peer
        if (Settings.OPTIMIZER) {
            parameters.put("optimizer", Optimizer.class.getName());
        }
        StringBuilder url = new StringBuilder("dubbo://" + Settings.urlHost() + ":" + Settings.PORT);
        url.append('/').append(path == null ? type : path);
        char separator = '?';
        for (Map.Entry<String, String> e : parameters.entrySet()) {
            url.append(separator).append(e.getKey()).append('=').append(e.getValue());
            separator = '&';
        }
        reference.setUrl(url.toString());
        if (!methods.isEmpty()) {
            reference.setMethods(methods);
        }
        return reference.get();
    }
}
