package org.dubbowire.rig.run;

/** RestEdge by a client that knows that the server speaks HTTP/2. */
public final class RestEdge2 implements Extra {
    @Override
    public String name() {
        return "rest-edge-2";
    }

    @Override
    public void export() {
        new RestEdge().export();
    }

    @Override
    public void run() throws Exception {
        RestEdge.web(Http2Web.any(), "");
    }
}
