package org.dubbowire.rig.edge;

/** A callback parameter: the provider calls it over the consumer's connection. */
public interface Listener {
    String changed(String key, Node node);

    void finished(int count);
}
