package org.dubbowire.rig.run;

/** RestEdge by bare sockets: pipelines, chunks, HTTP/1.0, a connection for each call. What is not a whole message is left out. */
public final class RestSockets implements Extra {
    @Override
    public String name() {
        return "rest-sockets";
    }

    @Override
    public void export() {
        new RestEdge().export();
    }

    @Override
    public void run() {
        RestEdge.raw();
    }
}
