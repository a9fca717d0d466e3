package org.dubbowire.rig.edge;

/** Known to the consumer only: nobody exports it. */
public interface Stranger {
    String hello(String name);

    void nothing();
}
