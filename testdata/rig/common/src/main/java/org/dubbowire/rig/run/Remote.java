package org.dubbowire.rig.run;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.dubbowire.rig.edge.EdgeService;

/** The settings of a reference to the provider. */
public final class Remote<T> {
    /** How references made from now on speak. */
    static String protocol = Settings.PROTOCOL;
    /** Null for a generic reference. */
    public final Class<T> type;
    public final String name;
    public final String generic;
    public final Set<String> oneWay = new HashSet<>();
    public final Set<String> async = new HashSet<>();
    public String group;
    public String version;
    public int timeout = 20000;
    /** Further attempts of a call that fails; they need more than one provider, see {@link #ports}. */
    public int retries;
    /** Own connections; 0 shares one with other references. */
    public int connections;
    private final Map<String, String> parameters = new TreeMap<>();
    private String path;
    private String host = Settings.urlHost();
    private int[] ports = {Settings.PORT};

    private Remote(Class<T> type, String name, String generic) {
        parameters.putAll(Settings.parameters());
        this.type = type;
        this.name = name;
        this.generic = generic;
        parameters.put("serialization", Settings.SERIALIZATION);
        if (!Settings.PREFERRED.isEmpty()) {
            parameters.put("prefer.serialization", Settings.PREFERRED);
        }
        parameters.put("heartbeat", Integer.toString(Settings.HEARTBEAT));
        parameters.put("heartbeat.timeout", "200000"); // a busy machine must not look like a dead peer
        if (!Settings.EXTENSIONS.isEmpty()) {
            parameters.put("extension", Settings.EXTENSIONS);
        }
        if (type == EdgeService.class) {
            // A registry would hand over the provider's parameters; without one the consumer must name the callback.
            parameters.put("subscribe.2.callback", "true");
        }
    }

    static <T> Remote<T> of(Class<T> type) {
        return new Remote<>(type, type.getName(), null);
    }

    /** A reference without the interface: the call goes out as $invoke. */
    static Peer.Generic generic(String type, String mode) {
        return Peer.CURRENT.referGeneric(new Remote<>(null, type, mode));
    }

    /** With a serialization other than the provider's, on a connection of its own. */
    static Peer.Generic generic(String type, String mode, String serialization) {
        return Peer.CURRENT.referGeneric(new Remote<>(null, type, mode).serialization(serialization).connections(1));
    }

    Remote<T> group(String group, String version) {
        this.group = group;
        this.version = version;
        return this;
    }

    Remote<T> timeout(int millis) {
        timeout = millis;
        return this;
    }

    Remote<T> retries(int more) {
        retries = more;
        return this;
    }

    /** Providers at several ports of the host: a failed attempt goes on at another one. */
    Remote<T> ports(int... all) {
        ports = all;
        return this;
    }

    Remote<T> path(String otherPath) {
        path = otherPath;
        return this;
    }

    /** Another provider than that of the settings. */
    Remote<T> host(String other) {
        host = other;
        return this;
    }

    Remote<T> serialization(String name) {
        return parameter("serialization", name);
    }

    Remote<T> parameter(String key, String value) {
        parameters.put(key, value);
        return this;
    }

    Remote<T> connections(int own) {
        connections = own;
        return this;
    }

    Remote<T> oneWay(String method) {
        oneWay.add(method);
        return this;
    }

    Remote<T> async(String method) {
        async.add(method);
        return this;
    }

    T get() {
        return Peer.CURRENT.refer(this);
    }

    /** The addresses of the providers with all parameters; more are the generation's own. */
    public String url(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(parameters);
        all.putAll(more);
        StringBuilder url = new StringBuilder();
        for (int port : ports) {
            url.append(url.length() == 0 ? "" : ";").append(protocol).append("://").append(host).append(':').append(port);
            url.append('/').append(path == null ? name : path);
            char separator = '?';
            for (Map.Entry<String, String> e : all.entrySet()) {
                url.append(separator).append(e.getKey()).append('=').append(e.getValue());
                separator = '&';
            }
        }
        return url.toString();
    }
}
