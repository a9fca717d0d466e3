package org.dubbowire.rig.truth;

import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One body without a frame around it, with the values that are in it; see README.md, "Graphs". */
public final class BodyLine {
    private BodyLine() {
    }

    /** said: what is known besides. back: what Java read from the bytes again; it is told where it is not what was written. */
    public static String of(Map<String, Object> said, byte[] body, boolean request, Recorder.Recording out, Recorder.Recording back) {
        Json json = new Json();
        json.beginObject();
        said.forEach(json::field);
        json.field("kind", request ? "request" : "response").field("bodyBytes", body.length);
        json.field("body", HexFormat.of().formatHex(body));
        describe(json, request, out);
        if (back.error != null) {
            json.field("decodeError", back.error.lines().findFirst().orElse(""));
        } else {
            List<Object> maps = out.values("attachments");
            if (maps.equals(back.values("attachments"))) { // their order may be another one
                back.ops.replaceAll(op -> op.name().equals("attachments") ? new Recorder.Op(op.name(), maps.get(0)) : op);
            }
            String written = alone(request, out);
            String read = alone(request, back);
            if (!written.equals(read)) {
                json.name("back").beginObject();
                describe(json, request, back);
                json.endObject();
            }
        }
        return json.endObject().toString();
    }

    private static String alone(boolean request, Recorder.Recording values) {
        Json json = new Json();
        json.beginObject();
        describe(json, request, values);
        return json.toString();
    }

    private static void describe(Json json, boolean request, Recorder.Recording values) {
        if (request) {
            TruthLine.request(json, values);
        } else {
            TruthLine.response(json, values, 20);
        }
    }

    public static Map<String, Object> said() {
        return new LinkedHashMap<>();
    }
}
