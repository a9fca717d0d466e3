package dubbowire;

import java.io.DataInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Reads what the parent sends. Lengths are believed as far as bytes arrive: nothing is allocated in advance. */
final class Reader {
    static final int MAGIC = 0x44574531; // DWE1
    private static final int DEEPEST = 400, MOST_NODES = 2 << 20, LONGEST = 1 << 28, CHUNK = 1 << 20;

    private final DataInputStream in;
    private Node[] nodes = new Node[64];
    private int count;
    private boolean decimals; // in the message

    String[] targets;
    int timingMillis, maxBody;
    String[] classPath, registered;

    Reader(DataInputStream in) {
        this.in = in;
    }

    boolean idle() throws IOException {
        return in.available() == 0;
    }

    void configuration() throws IOException {
        if (in.readInt() != MAGIC) {
            throw new IOException("not the records of dubbo-wire");
        }
        targets = strings();
        timingMillis = in.readInt();
        maxBody = in.readInt();
        classPath = strings();
        registered = strings();
    }

    /** The next message; null at the end. */
    Message next() throws IOException {
        int kind = in.readUnsignedByte();
        if (kind == 0) {
            return null;
        }
        if (kind > 2) {
            throw new IOException("no kind of message: " + kind);
        }
        Arrays.fill(nodes, 0, count, null);
        count = 0;
        decimals = false;
        Message m = new Message();
        m.response = kind == 2;
        m.id = in.readLong();
        m.group = in.readInt();
        m.dubboVersion = string();
        m.service = string();
        m.serviceVersion = string();
        m.method = string();
        m.descriptor = string();
        m.resultKind = in.readUnsignedByte();
        m.values = children(0);
        int about = in.readUnsignedByte();
        m.attached = (about & 1) != 0 ? node(0) : null;
        m.unwritten = (about & 2) != 0 ? string() : null;
        m.timesCopied = (about & 4) != 0;
        m.protobufOnly = (about & 8) != 0;
        m.decimals = decimals;
        return m;
    }

    private Node[] children(int depth) throws IOException {
        int n = in.readInt();
        if (n < 0 || n > MOST_NODES - count) {
            throw new IOException("too many values: " + n);
        }
        if (n == 0) {
            return Node.NONE;
        }
        Node[] inner = new Node[Math.min(n, 1024)];
        for (int i = 0; i < n; i++) {
            if (i == inner.length) {
                inner = Arrays.copyOf(inner, Math.min(n, i * 2));
            }
            inner[i] = node(depth + 1);
        }
        return inner;
    }

    private Node node(int depth) throws IOException {
        if (depth > DEEPEST || count >= MOST_NODES) {
            throw new IOException(depth > DEEPEST ? "values nested too deep" : "too many values");
        }
        Node n = new Node();
        if (count == nodes.length) {
            nodes = Arrays.copyOf(nodes, count * 2);
        }
        nodes[count++] = n;
        n.kind = in.readUnsignedByte();
        n.label = in.readUnsignedByte();
        n.name = string();
        n.type = string();
        decimals |= n.kind == Node.DECIMAL;
        switch (n.kind) {
            case Node.NULL: case Node.UNWRITTEN:
                break;
            case Node.BOOL:
                n.number = in.readUnsignedByte();
                break;
            case Node.INT:
                n.number = in.readLong();
                break;
            case Node.FLOAT32:
                n.real = in.readFloat();
                break;
            case Node.FLOAT64:
                n.real = in.readDouble();
                n.text = string();
                break;
            case Node.CHAR: case Node.STRING: case Node.DECIMAL:
                n.text = text();
                break;
            case Node.BYTES:
                n.bytes = bytes();
                break;
            case Node.DATE: case Node.ENUM:
                n.text = text();
                n.number = in.readLong();
                break;
            case Node.LIST: case Node.MAP: case Node.OBJECT:
                n.inner = children(depth);
                break;
            case Node.REF: {
                int at = in.readInt();
                if (at < 0 || at >= count - 1) {
                    throw new IOException("a reference to value " + at + " of " + count);
                }
                n.target = nodes[at];
                break;
            }
            default:
                throw new IOException("no kind of value: " + n.kind);
        }
        return n;
    }

    private String[] strings() throws IOException {
        List<String> all = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) {
            all.add(text());
        }
        return all.toArray(new String[0]);
    }

    private byte[] bytes() throws IOException {
        int n = in.readInt();
        if (n < 0) {
            return null;
        }
        if (n > LONGEST) {
            throw new IOException("a text or bytes of " + n + " bytes");
        }
        byte[] all = new byte[Math.min(n, CHUNK)];
        for (int got = 0; got < n;) {
            if (got == all.length) {
                all = Arrays.copyOf(all, Math.min(n, got * 2));
            }
            int more = all.length - got;
            in.readFully(all, got, more);
            got += more;
        }
        return all;
    }

    private String text() throws IOException {
        String s = string();
        return s == null ? "" : s;
    }

    /** A new string each time, since serializers that write references look at the object. */
    private String string() throws IOException {
        byte[] utf8 = bytes();
        if (utf8 == null) {
            return null;
        }
        for (byte b : utf8) {
            if (b < 0) {
                return wide(utf8);
            }
        }
        return new String(utf8, StandardCharsets.ISO_8859_1);
    }

    /** UTF-8 in which halves of a surrogate pair have three bytes. */
    private static String wide(byte[] b) {
        StringBuilder s = new StringBuilder(b.length);
        for (int i = 0; i < b.length;) {
            int c = b[i] & 0xff, more = c < 0x80 ? 0 : c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : -1;
            if (more < 0 || i + more >= b.length) {
                s.append('\ufffd');
                i++;
                continue;
            }
            int point = more == 0 ? c : c & 0x3f >> more;
            for (int k = 1; k <= more; k++) {
                point = point << 6 | b[i + k] & 0x3f;
            }
            if (point > 0x10ffff) {
                point = 0xfffd;
            }
            s.appendCodePoint(point);
            i += more + 1;
        }
        return s.toString();
    }
}
