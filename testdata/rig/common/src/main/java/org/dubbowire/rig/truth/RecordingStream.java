package org.dubbowire.rig.truth;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;

/**
 * Passes every call on a serialization's stream unchanged and notes what the codec wrote or read, or why it could not.
 * The stream keeps all its interfaces: which methods and which marks (Cleanable) exist differs from release to release.
 */
public final class RecordingStream {
    /** The methods Dubbo's codecs put a body together with, without "read" or "write". */
    private static final Map<String, String> OPS = Map.of("Object", "object", "Throwable", "object", "Event", "object",
        "Attachments", "attachments", "UTF", "utf", "Byte", "byte", "Int", "int");

    private RecordingStream() {
    }

    /** The stream itself where nobody listens. */
    @SuppressWarnings("unchecked")
    public static <T> T wrap(T stream, Recorder.Recording recording) {
        if (recording == null) {
            return stream;
        }
        Set<Class<?>> interfaces = new LinkedHashSet<>();
        for (Class<?> c = stream.getClass(); c != null; c = c.getSuperclass()) {
            interfaces.addAll(Set.of(c.getInterfaces()));
        }
        return (T) Proxy.newProxyInstance(RecordingStream.class.getClassLoader(), interfaces.toArray(Class<?>[]::new), (self, method, arguments) -> {
            String name = method.getName();
            boolean write = name.startsWith("write");
            String op = OPS.get(name.substring(Math.min(name.length(), write ? 5 : 4)));
            if (op != null && write) {
                recording.add(op, arguments[0]);
            }
            try {
                method.setAccessible(true);
                Object result = method.invoke(stream, arguments);
                if (op != null && !write) {
                    recording.add(op, result);
                }
                return result;
            } catch (InvocationTargetException e) {
                if (op != null && !write) {
                    recording.fail(e.getCause());
                }
                throw e.getCause();
            }
        });
    }
}
