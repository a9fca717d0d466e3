package org.dubbowire.rig.truth;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A line for a streaming call: all messages of each direction, in order. It is written when the call has ended. */
public final class StreamLine {
    private final String protocol;
    private final String provider;
    private final String service;
    private final String method;
    private final List<Object> requests = new ArrayList<>();
    private final List<Object> responses = new ArrayList<>();
    private Map<String, ?> attachments;
    private boolean ended;

    public StreamLine(String protocol, String provider, String service, String method) {
        this.protocol = protocol;
        this.provider = provider;
        this.service = service;
        this.method = method;
    }

    public synchronized void attachments(Map<String, ?> all) {
        attachments = all;
    }

    public synchronized void request(Object message) {
        requests.add(message);
    }

    public synchronized void response(Object message) {
        responses.add(message);
    }

    /** With null where it ended as it should. */
    public void ended(Throwable failure) {
        ended(failure, null);
    }

    /** With the status of gRPC, where it is known. */
    public synchronized void ended(Throwable failure, Integer status) {
        if (ended) {
            return; // a cancelled call ends for whoever cancels it, and once more
        }
        ended = true;
        Json json = new Json();
        json.beginObject().field("side", TruthLog.SIDE).field("kind", "call").field("protocol", protocol).field("provider", provider);
        json.field("service", service).field("method", method).field("streaming", true);
        messages(json, "arguments", "args", requests);
        if (attachments != null) {
            json.name("attachments");
            new Dumper(json).root("attachments", attachments);
        }
        if (status != null) {
            json.field("status", status);
        }
        json.field("resultKind", failure == null ? "value" : "exception");
        messages(json, "result", "result", responses);
        if (failure != null) {
            json.name("exception").beginObject().field("class", failure.getClass().getName()).field("message", failure.getMessage()).endObject();
        }
        TruthLog.line(json.endObject().toString());
    }

    private static void messages(Json json, String name, String path, List<Object> messages) {
        json.name(name).beginArray();
        for (int i = 0; i < messages.size(); i++) {
            new Dumper(json).value(path + "[" + i + "]", messages.get(i));
        }
        json.endArray();
    }
}
