package org.dubbowire.rig.run;

/** RestEdge without bare sockets: every message is a whole one, and every step succeeds or fails in the same way at every server. */
public final class RestWeb implements Extra {
    @Override
    public String name() {
        return "rest-web";
    }

    @Override
    public void export() {
        new RestEdge().export();
    }

    @Override
    public void run() {
        RestEdge.clients();
    }
}
