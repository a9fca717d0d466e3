package org.dubbowire.rig.truth;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** Makes one line of the truth. */
public final class TruthLine {
    private TruthLine() {
    }

    /** id: what the object model says, or null where it says nothing. Never throws: what cannot be described must still pass. */
    public static void log(Ends ends, String dir, Frame frame, Long id, Recorder.Recording stream, String decodeError) {
        try {
            describe(ends, dir, frame, id, stream, decodeError);
        } catch (RuntimeException | StackOverflowError e) {
            e.printStackTrace();
            Recorder.Recording unknown = new Recorder.Recording(0);
            unknown.fail(new IllegalStateException("the truth cannot be described: " + e));
            describe(ends, dir, frame, null, unknown, null);
        }
    }

    /** Bytes between frames that a provider sent by mistake. */
    public static void rubbish(Ends ends, int bytes) {
        Json json = begin(ends, "out");
        json.field("kind", "rubbish").field("bytes", bytes);
        TruthLog.line(json.endObject().toString());
    }

    static Json begin(Ends ends, String dir) {
        Json json = new Json();
        json.beginObject().field("side", TruthLog.SIDE);
        if (!TruthLog.PEER.isEmpty()) {
            json.field("peer", TruthLog.PEER);
        }
        return json.field("dir", dir).field("local", ends.localText()).field("remote", ends.remoteText());
    }

    private static void describe(Ends ends, String dir, Frame frame, Long id, Recorder.Recording stream, String decodeError) {
        Json json = begin(ends, dir);
        if (!frame.isDubbo()) {
            json.field("kind", "telnet").field("bytes", frame.length());
            TruthLog.line(json.endObject().toString());
            return;
        }
        boolean request = (frame.flags() & 0x80) != 0;
        boolean event = (frame.flags() & 0x20) != 0;
        Object data = stream == null || stream.values("object").isEmpty() ? null : stream.values("object").get(0);
        // No stream: newer releases send prepared bytes. A stream from which a receiver read nothing: an event that was refused.
        boolean refused = dir.equals("in") && stream != null && stream.ops.isEmpty();
        boolean heartbeat = event && data == null && !refused;
        json.field("kind", heartbeat ? "heartbeat" : event ? "event" : request ? "request" : "response");
        json.field("event", event).field("twoWay", (frame.flags() & 0x40) != 0);
        json.field("id", Long.toString(frame.id())).field("flags", frame.flags());
        if (!request) {
            json.field("status", frame.status());
        }
        json.field("serializationId", frame.flags() & 0x1f).field("bodyBytes", frame.bodyBytes());
        json.field("bodySha256", sha256(frame));
        if (id != null && id != frame.id()) {
            json.field("mismatch", "the object model says id " + id);
        }
        if (event) {
            if (!heartbeat) {
                json.field("data", data);
            }
        } else if (stream != null && request) {
            request(json, stream);
        } else if (stream != null) {
            response(json, stream, frame.status());
        }
        String error = decodeError != null ? decodeError : stream == null ? null : stream.error;
        if (error != null) {
            json.field("decodeError", error.lines().findFirst().orElse(""));
        }
        TruthLog.line(json.endObject().toString());
    }

    /** In the order the codec writes: five strings, the arguments, the attachments. Forks write a number of arguments, too, or other strings. */
    static void request(Json json, Recorder.Recording stream) {
        List<Object> utf = stream.values("utf");
        String[] names = {"dubboVersion", "service", "version", "method"};
        for (int i = 0; i < names.length && i < utf.size(); i++) {
            json.field(names[i], utf.get(i));
        }
        List<Object> counts = stream.values("int");
        if (!counts.isEmpty()) {
            json.field("argumentCount", counts.get(0));
        } else if (utf.size() < 5) {
            return;
        }
        if (utf.size() > 5) {
            json.field("unknown", utf.subList(4, utf.size() - 1));
        }
        List<Object> objects = new ArrayList<>(stream.values("object"));
        int arguments = objects.size() - 1;
        if (utf.size() > 4) {
            List<String> types = Descriptors.javaNames((String) utf.get(utf.size() - 1));
            json.field("parameterTypes", types);
            arguments = types.size();
        }
        List<Object> maps = stream.values("attachments");
        Object attachments = maps.isEmpty() ? null : maps.get(0);
        if (maps.isEmpty() && objects.size() > arguments) {
            attachments = objects.remove(objects.size() - 1); // before 2.7.5 the map is one more object
        }
        Dumper dumper = new Dumper(json);
        if (stream.error == null || objects.size() == arguments) {
            json.name("arguments").beginArray();
            for (int i = 0; i < objects.size(); i++) {
                dumper.value("args[" + i + "]", objects.get(i));
            }
            json.endArray();
        }
        attachments(json, dumper, attachments);
        if (attachments instanceof Map<?, ?> map && map.get("group") != null) {
            json.field("group", map.get("group"));
        }
    }

    static void response(Json json, Recorder.Recording stream, int status) {
        if (status != 20) {
            List<Object> utf = stream.values("utf");
            json.field("errorMessage", utf.isEmpty() ? null : utf.get(0));
            return;
        }
        List<Object> flags = stream.values("byte");
        if (flags.isEmpty()) {
            return;
        }
        int flag = ((Number) flags.get(0)).intValue();
        json.field("resultFlag", flag);
        boolean isException = flag == 0 || flag == 3;
        boolean isNull = flag == 2 || flag == 5;
        List<Object> objects = new ArrayList<>(stream.values("object"));
        json.field("resultKind", isException ? "exception" : isNull ? "null" : "value");
        Dumper dumper = new Dumper(json);
        if (!isNull && !objects.isEmpty()) {
            Object value = objects.remove(0);
            if (isException && value instanceof Throwable t) {
                json.name("exception").beginObject();
                json.field("class", t.getClass().getName()).field("message", t.getMessage());
                json.endObject();
            } else {
                json.name("result");
                dumper.value("result", value);
            }
        }
        if (flag >= 3) {
            List<Object> maps = stream.values("attachments");
            attachments(json, dumper, maps.isEmpty() ? (objects.isEmpty() ? null : objects.get(0)) : maps.get(0));
        }
    }

    private static void attachments(Json json, Dumper dumper, Object map) {
        if (map != null) {
            json.name("attachments");
            dumper.root("attachments", (Map<?, ?>) map);
        }
    }

    private static String sha256(Frame frame) {
        return sha256(frame.all(), frame.offset() + Frame.HEADER, frame.length() - Frame.HEADER);
    }

    /** The first 8 bytes of the sum, hex. */
    static String sha256(byte[] bytes, int offset, int length) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(bytes, offset, length);
            return HexFormat.of().formatHex(digest.digest(), 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
