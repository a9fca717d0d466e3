package org.dubbowire.rig.truth;

import io.netty.handler.codec.http2.Http2Headers;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.zip.GZIPInputStream;
import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.xerial.snappy.Snappy;

/** The messages of one direction of a stream: gRPC's, with a prefix each, or one plain body. */
final class Http2Messages {
    private static final int PREFIX = 5;

    private record Message(boolean plain, boolean compressed, byte[] bytes) {
    }

    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private final List<Message> done = new ArrayList<>();
    private int logged;
    private boolean grpc;
    private String encoding;

    void headers(Http2Headers headers, boolean end) {
        CharSequence type = headers.get("content-type");
        if (type != null) {
            grpc = type.toString().startsWith("application/grpc");
            CharSequence name = headers.get(grpc ? "grpc-encoding" : "content-encoding");
            encoding = name == null ? null : name.toString();
        }
        data(new byte[0], end);
    }

    void data(byte[] bytes, boolean end) {
        held.writeBytes(bytes);
        byte[] all = held.toByteArray();
        if (!grpc) {
            if (end && all.length > 0) {
                done.add(new Message(true, encoding != null, all));
                held.reset();
            }
            return;
        }
        int at = 0;
        while (all.length - at >= PREFIX) {
            int length = ByteBuffer.wrap(all, at + 1, 4).getInt();
            if (all.length - at - PREFIX < length) {
                break;
            }
            byte[] message = new byte[length];
            System.arraycopy(all, at + PREFIX, message, 0, length);
            done.add(new Message(false, all[at] != 0, message));
            at += PREFIX + length;
        }
        held.reset();
        held.write(all, at, all.length - at);
    }

    /** Writes a line for each message that has become complete. */
    void log(Supplier<Json> begin) {
        for (Message m : done) {
            Json json = begin.get().field("message", ++logged).field("plain", m.plain).field("compressed", m.compressed);
            json.field("bytes", m.bytes.length).field("sha256", TruthLine.sha256(m.bytes, 0, m.bytes.length));
            if (m.compressed) {
                json.field("encoding", encoding);
                try {
                    byte[] unpacked = unpack(m.bytes);
                    json.field("uncompressedBytes", unpacked.length).field("uncompressedSha256", TruthLine.sha256(unpacked, 0, unpacked.length));
                } catch (IOException e) {
                    json.field("error", e.toString());
                }
            }
            TruthLog.line(json.endObject().toString());
        }
        done.clear();
    }

    private byte[] unpack(byte[] bytes) throws IOException {
        if (bytes.length == 0) {
            return bytes; // Dubbo's compressors leave nothing as it is
        }
        return switch (String.valueOf(encoding)) {
            case "gzip" -> new GZIPInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
            case "bzip2" -> new BZip2CompressorInputStream(new ByteArrayInputStream(bytes)).readAllBytes();
            case "snappy" -> Snappy.uncompress(bytes);
            default -> throw new IOException("no reader for " + encoding);
        };
    }
}
