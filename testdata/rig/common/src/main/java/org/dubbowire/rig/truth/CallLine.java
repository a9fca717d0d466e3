package org.dubbowire.rig.truth;

import java.util.List;
import java.util.Map;

/** A line for a whole call, of a protocol whose frames nobody logs. It is written when the call has ended. */
public final class CallLine {
    /** What HTTP says of the call that this thread makes or answers. */
    private static final ThreadLocal<Http> HTTP = new ThreadLocal<>();

    private record Http(String verb, String path, int status) {
    }

    private final Json json = new Json();
    private final Dumper dumper = new Dumper(json);

    public CallLine(String protocol, String provider, String service, String version, String group, String method, List<String> types, Object[] arguments,
            Map<String, ?> attachments) {
        json.beginObject();
        json.field("side", TruthLog.SIDE).field("kind", "call").field("protocol", protocol).field("provider", provider);
        json.field("service", service).field("version", version).field("group", group).field("method", method).field("parameterTypes", types);
        json.name("arguments").beginArray();
        for (int i = 0; i < types.size(); i++) {
            dumper.value("args[" + i + "]", arguments[i]);
        }
        json.endArray();
        if (attachments != null) {
            json.name("attachments");
            dumper.root("attachments", attachments);
        }
    }

    /** For the line that this thread writes next; status is 0 where it is not known yet. */
    public static void http(String verb, String path, int status) {
        HTTP.set(new Http(verb, path, status));
    }

    /** What came beside the answer. */
    public void beside(Map<String, ?> attachments) {
        json.name("responseAttachments");
        dumper.root("responseAttachments", attachments);
    }

    public void answered(Object result) {
        json.field("resultKind", result == null ? "null" : "value");
        if (result != null) {
            json.name("result");
            dumper.value("result", result);
        }
        end();
    }

    public void failed(Throwable t) {
        json.field("resultKind", "exception").name("exception").beginObject();
        json.field("class", t.getClass().getName()).field("message", t.getMessage());
        json.endObject();
        end();
    }

    private void end() {
        Http http = HTTP.get();
        HTTP.remove();
        if (http != null) {
            json.field("verb", http.verb).field("path", http.path);
            if (http.status != 0) {
                json.field("status", http.status);
            }
        }
        TruthLog.line(json.endObject().toString());
    }
}
