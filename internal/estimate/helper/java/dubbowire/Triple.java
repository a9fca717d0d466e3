package dubbowire;

import java.io.IOException;
import java.io.OutputStream;

/** Triple's wrappers: a message of Protobuf around values that another serialization has written. */
final class Triple implements Target {
    private final Dubbo dubbo;
    private final Object extension;
    private final String name; // in the wrapper

    Triple(Dubbo dubbo, String serialization) throws Throwable {
        this.dubbo = dubbo;
        this.extension = dubbo.extension(serialization);
        this.name = serialization.equals("hessian2") ? "hessian4" : serialization;
    }

    @Override
    public void encode(Message m, OutputStream out) throws Throwable {
        Body value = new Body(Integer.MAX_VALUE - 64);
        Protobuf.text(out, 1, name);
        for (int i = 0; i < (m.response ? 1 : m.objects.length); i++) {
            value.reset();
            dubbo.writeValue(extension, m.response ? m.result() : m.objects[i], value);
            if (!m.response || value.size() > 0) {
                Protobuf.bytes(out, 2, value.array(), value.size());
            }
        }
        if (m.response) {
            Protobuf.text(out, 3, Generics.raw(m.signature.result).getName());
            return;
        }
        for (Class<?> c : m.signature.classes) {
            Protobuf.element(out, 3, c.getName());
        }
    }

    @Override
    public void decode(Message m, byte[] body) throws Throwable {
        int argument = 0;
        for (int i = 0; i < body.length;) {
            int field = body[i++] >> 3, length = 0, shift = 0;
            do {
                length |= (body[i] & 0x7f) << shift;
                shift += 7;
            } while (body[i++] < 0);
            if (field == 2) {
                Class<?> type = m.response ? Generics.raw(m.signature.result) : m.signature.classes[argument++];
                dubbo.readValue(extension, type == void.class ? Object.class : type, Dubbo.input(body, i, length));
            }
            i += length;
        }
        if (!m.response && argument != m.objects.length) {
            throw new IOException("the wrapper has " + argument + " arguments");
        }
    }
}
