package org.dubbowire.rig.truth;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMap;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TSet;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TMemoryInputTransport;
import org.apache.thrift.transport.TTransport;

/** A line for each message of Thrift that an end has written, with the values that libthrift reads from its bytes by types and ids alone. */
public final class ThriftMessages {
    private static final String[] TYPES = {"stop", "void", "bool", "byte", "double", "", "i16", "", "i32", "", "i64", "string", "struct", "map", "set", "list", "enum"};
    private static final String[] KINDS = {"", "CALL", "REPLY", "EXCEPTION", "ONEWAY"};

    private ThriftMessages() {
    }

    /** message: without the length of a frame. ends: null where the transport does not tell. */
    public static void sent(Ends ends, boolean compact, boolean framed, byte[] message) {
        line("out", ends, compact ? "compact" : "binary", framed, message, 0, null);
    }

    /** A frame of Dubbo's own Thrift: length, header, message. */
    public static void dubbo(Ends ends, String dir, byte[] bytes) {
        line(dir, ends, "binary", true, bytes, 4 + (ByteBuffer.wrap(bytes).getShort(10) & 0xffff), bytes);
    }

    private static void line(String dir, Ends ends, String protocol, boolean framed, byte[] bytes, int start, byte[] header) {
        Json json = new Json();
        json.beginObject().field("side", TruthLog.SIDE).field("dir", dir).field("kind", "thrift");
        if (ends != null) {
            json.field("local", ends.localText()).field("remote", ends.remoteText());
        }
        json.field("encoding", protocol).field("framed", framed);
        TTransport in = new TMemoryInputTransport(bytes, start, bytes.length - start);
        try {
            if (header != null) {
                header(json, header, start);
            }
            TProtocol reader = protocol.equals("compact") ? new TCompactProtocol(in) : new TBinaryProtocol(in);
            TMessage message = reader.readMessageBegin();
            json.field("type", KINDS[message.type]).field("name", message.name).field("seqId", message.seqid);
            json.field("bytes", bytes.length - start).field("sha256", TruthLine.sha256(bytes, start, bytes.length - start));
            json.name("value");
            struct(json, reader);
        } catch (TException e) {
            throw new IllegalStateException(e);
        }
        TruthLog.line(json.endObject().toString());
    }

    /** What is before the message, read by its description: 2.7.1 and later have a path in requests, which nothing in the header tells from none. */
    private static void header(Json json, byte[] bytes, int end) {
        ByteBuffer b = ByteBuffer.wrap(bytes, 12, end - 12);
        json.field("frameBytes", bytes.length).field("headerBytes", end - 4).field("headerVersion", b.get());
        json.field("service", text(b));
        if (b.remaining() > 8) {
            json.field("path", text(b));
        }
        json.field("id", Long.toString(b.getLong()));
    }

    private static String text(ByteBuffer b) {
        byte[] text = new byte[b.getInt()];
        b.get(text);
        return new String(text, StandardCharsets.UTF_8);
    }

    private static void struct(Json json, TProtocol in) throws TException {
        json.beginObject().name("@fields").beginArray();
        in.readStructBegin();
        for (TField field = in.readFieldBegin(); field.type != TType.STOP; field = in.readFieldBegin()) {
            json.beginObject().field("id", field.id).field("type", TYPES[field.type]).name("value");
            value(json, in, field.type);
            json.endObject();
            in.readFieldEnd();
        }
        in.readStructEnd();
        json.endArray().endObject();
    }

    private static void value(Json json, TProtocol in, byte type) throws TException {
        switch (type) {
            case TType.BOOL -> json.scalar(in.readBool());
            case TType.BYTE -> json.scalar(in.readByte());
            case TType.I16 -> json.scalar(in.readI16());
            case TType.I32 -> json.scalar(in.readI32());
            case TType.I64 -> json.scalar(in.readI64());
            case TType.DOUBLE -> new Dumper(json).value("", in.readDouble());
            case TType.STRING -> string(json, in.readBinary());
            case TType.STRUCT -> struct(json, in);
            case TType.LIST -> {
                TList list = in.readListBegin();
                values(json, in, "@list", list.elemType, list.size);
                in.readListEnd();
            }
            case TType.SET -> {
                TSet set = in.readSetBegin();
                values(json, in, "@set", set.elemType, set.size);
                in.readSetEnd();
            }
            case TType.MAP -> {
                TMap map = in.readMapBegin();
                json.beginObject().field("@keys", TYPES[map.keyType]).field("@values", TYPES[map.valueType]).name("entries").beginArray();
                for (int i = 0; i < map.size; i++) {
                    json.beginArray();
                    value(json, in, map.keyType);
                    value(json, in, map.valueType);
                    json.endArray();
                }
                json.endArray().endObject();
                in.readMapEnd();
            }
            default -> throw new TException("type " + type);
        }
    }

    private static void values(Json json, TProtocol in, String tag, byte type, int size) throws TException {
        json.beginObject().field(tag, TYPES[type]).name("elements").beginArray();
        for (int i = 0; i < size; i++) {
            value(json, in, type);
        }
        json.endArray().endObject();
    }

    /** Text where the bytes are UTF-8: the wire does not tell string from binary. */
    private static void string(Json json, ByteBuffer b) {
        try {
            json.scalar(StandardCharsets.UTF_8.newDecoder().decode(b.duplicate()).toString());
        } catch (CharacterCodingException e) {
            byte[] bytes = new byte[b.remaining()];
            b.get(bytes);
            json.beginObject().field("@bytes", Base64.getEncoder().encodeToString(bytes)).endObject();
        }
    }
}
