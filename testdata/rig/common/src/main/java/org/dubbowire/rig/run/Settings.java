package org.dubbowire.rig.run;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What a run is about; given as system properties by captures.sh. */
public final class Settings {
    public static final String HOST = System.getProperty("rig.host", "127.0.0.1");
    public static final int PORT = Integer.getInteger("rig.port", 20880);
    public static final String SERIALIZATION = System.getProperty("rig.serialization", "hessian2");
    /** For workloads with several serializations. */
    static final String[] SERIALIZATIONS = System.getProperty("rig.serializations", SERIALIZATION).split(",");
    /** What the consumer prefers to the provider's serialization; empty where it prefers nothing. */
    static final String PREFERRED = System.getProperty("rig.preferred", "");
    /** What the provider takes besides its own serialization, separated by commas; 3.x refuses others. */
    public static final String ACCEPTED = System.getProperty("rig.accepted", PREFERRED);
    /** What the provider's port speaks, and what it speaks besides. */
    public static final String PROTOCOL = System.getProperty("rig.protocol", "dubbo");
    public static final String SECOND_PROTOCOL = System.getProperty("rig.protocol.second", "");
    /** What serves HTTP (jetty, tomcat, netty) where the protocol leaves a choice; empty for its default. */
    public static final String SERVER = System.getProperty("rig.server", "");
    /** Classes that Dubbo gives to the JAX-RS of both ends, separated by commas. */
    public static final String EXTENSIONS = System.getProperty("rig.extensions", "");
    /** The Extras whose services the provider exports, too; separated by commas. */
    static final List<String> EXTRA = Arrays.stream(System.getProperty("rig.extra", "").split(",")).filter(name -> !name.isEmpty()).toList();
    /** The fork of Dubbo whose order of fields request bodies have; empty for Dubbo's own. */
    public static final String LAYOUT = System.getProperty("rig.layout", "");
    /** Where the provider answers administrators; 0 for nowhere. */
    public static final int QOS = Integer.getInteger("rig.qos", 0);
    public static final boolean OPTIMIZER = Boolean.getBoolean("rig.optimizer");
    /** The optimizer, where it is not that of the generation. */
    public static final String OPTIMIZER_CLASS = System.getProperty("rig.optimizer.class", "");
    public static final int HEARTBEAT = Integer.getInteger("rig.heartbeat", 60000);
    public static final int THREADS = Integer.getInteger("rig.threads", 200);
    public static final int PAYLOAD = Integer.getInteger("rig.payload", 8 * 1024 * 1024);
    /** Connections of each reference of the workload "mixed"; 0: all share one. */
    static final int CONNECTIONS = Integer.getInteger("rig.connections", 0);
    /** Multiplies the number of calls; 1 everywhere except in captures about volume. */
    public static final int REPEAT = Integer.getInteger("rig.repeat", 1);

    /** Milliseconds that the provider's slow method sleeps beyond those that it is asked for. */
    static final int DELAY = Integer.getInteger("rig.delay", 0);

    /** Milliseconds between the rounds of the workload "conditions". */
    public static final int PAUSE = Integer.getInteger("rig.pause", 0);

    /** Random texts are made of so many letters: few where captures must stay small. */
    static final int LETTERS = Integer.getInteger("rig.letters", 26);

    /** Commands sent as text to the Dubbo port. */
    static final String[] TELNET = System.getProperty("rig.telnet", "ls,status").split(",");

    private Settings() {
    }

    /** Parameters of the URLs of provider and consumer beside those that the rig sets: name=value, separated by commas. */
    public static Map<String, String> parameters() {
        Map<String, String> all = new TreeMap<>();
        for (String parameter : System.getProperty("rig.parameters", "").split(",")) {
            int at = parameter.indexOf('=');
            if (at > 0) {
                all.put(parameter.substring(0, at), parameter.substring(at + 1));
            }
        }
        return all;
    }

    /** Host as it stands in a URL. */
    public static String urlHost() {
        return HOST.indexOf(':') >= 0 ? "[" + HOST + "]" : HOST;
    }
}
