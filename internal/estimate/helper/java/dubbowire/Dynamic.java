package dubbowire;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Dubbo's serializations of messages of protocol buffers, which take only those that have a generated class. For others, Dubbo writes empty
 * messages, whose place they take: each value of a body stands after its length, or in a line.
 */
final class Dynamic implements Target {
    private final Target dubbo;
    private final boolean json;

    Dynamic(Target dubbo, boolean json) {
        this.dubbo = dubbo;
        this.json = json;
    }

    @Override
    public void encode(Message m, OutputStream out) throws Throwable {
        if (!Messages.dynamic(m)) {
            dubbo.encode(m, out);
            return;
        }
        Object[] messages = m.objects;
        Body body = new Body(Integer.MAX_VALUE - 64);
        m.objects = new Object[messages.length];
        for (int i = 0; i < messages.length; i++) {
            m.objects[i] = Messages.is(messages[i].getClass()) ? Messages.standIn() : messages[i];
        }
        try {
            dubbo.encode(m, body);
        } finally {
            m.objects = messages;
        }
        int first = m.response ? 1 : 5; // after the kind; after versions, path, method and types
        byte[] all = body.array();
        for (int at = 0, part = 0; at < body.size(); part++) {
            int end = json ? line(all, at, body.size()) : delimited(all, at);
            int value = part - first;
            if (value < 0 || value >= messages.length || !Messages.is(messages[value].getClass())) {
                out.write(all, at, end - at);
            } else if (json) {
                out.write(Messages.json(messages[value]).getBytes(StandardCharsets.UTF_8));
                int lineEnd = end - (end > at + 1 && all[end - 2] == '\r' ? 2 : 1);
                out.write(all, lineEnd, end - lineEnd);
            } else {
                byte[] bytes = Messages.bytes(messages[value]);
                Protobuf.varint(out, bytes.length);
                out.write(bytes);
            }
            at = end;
        }
    }

    private static int line(byte[] all, int from, int size) {
        int at = from;
        while (at < size && all[at] != '\n') {
            at++;
        }
        return Math.min(at + 1, size);
    }

    private static int delimited(byte[] all, int from) throws IOException {
        int length = 0, at = from, shift = 0;
        do {
            length |= (all[at] & 0x7f) << shift;
            shift += 7;
        } while (all[at++] < 0);
        return at + length;
    }

    @Override
    public void decode(Message m, byte[] body) throws Throwable {
        if (Messages.dynamic(m)) {
            throw new Failure("Dubbo reads only messages that have a generated class (--classpath)");
        }
        dubbo.decode(m, body);
    }
}
