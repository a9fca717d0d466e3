package org.dubbowire.rig.run;

/** What a run is about; given as system properties by record.sh. */
final class Settings {
    static final String HOST = System.getProperty("rig.host", "127.0.0.1");
    static final int PORT = Integer.getInteger("rig.port", 20880);
    static final String SERIALIZATION = System.getProperty("rig.serialization", "hessian2");
    static final boolean OPTIMIZER = Boolean.getBoolean("rig.optimizer");
    static final int HEARTBEAT = Integer.getInteger("rig.heartbeat", 60000);
    static final int THREADS = Integer.getInteger("rig.threads", 200);
    static final int PAYLOAD = Integer.getInteger("rig.payload", 8 * 1024 * 1024);
    /** Multiplies the number of calls; 1 everywhere except in captures about volume. */
    static final int REPEAT = Integer.getInteger("rig.repeat", 1);

    /** Milliseconds between the rounds of the workload "conditions". */
    static final int PAUSE = Integer.getInteger("rig.pause", 0);

    private Settings() {
    }

    /** Host as it stands in a URL. */
    static String urlHost() {
        return HOST.indexOf(':') >= 0 ? "[" + HOST + "]" : HOST;
    }
}
