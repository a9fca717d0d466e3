package org.dubbowire.rig.truth;

/** A line for a request of HTTP and its response, as the servlet has them. */
public final class ExchangeLine {
    private ExchangeLine() {
    }

    /** A connection of text with QoS: the bytes of both directions. */
    public static void text(int bytes) {
        TruthLog.line(new Json().beginObject().field("side", TruthLog.SIDE).field("kind", "qos").field("bytes", bytes).endObject().toString());
    }

    /** in and out: the bodies, without the sizes of chunks. failure: what the servlet threw; then the server writes another body. */
    public static void log(Ends ends, String method, String path, String contentType, byte[] in, int status, byte[] out, String failure) {
        Json json = new Json();
        json.beginObject().field("side", TruthLog.SIDE).field("kind", "http1").field("local", ends.localText()).field("remote", ends.remoteText());
        json.field("method", method).field("path", path).field("contentType", contentType);
        json.field("requestBytes", in.length).field("requestSha256", TruthLine.sha256(in, 0, in.length));
        json.field("responseStatus", status).field("responseBytes", out.length).field("responseSha256", TruthLine.sha256(out, 0, out.length));
        if (failure != null) {
            json.field("failure", failure);
        }
        TruthLog.line(json.endObject().toString());
    }
}
