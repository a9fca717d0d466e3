package org.dubbowire.rig.truth;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Collects what Dubbo's codec hands to, or gets from, the serialization while one buffer is encoded or decoded.
 * The codec wrapper installs one per thread; the serialization wrapper adds a Recording for every stream it opens.
 */
public final class Recorder {
    private static final ThreadLocal<Recorder> CURRENT = new ThreadLocal<>();

    /** One call of the codec on a serialization stream. */
    public record Op(String name, Object value) {
    }

    /** All calls on one stream, and the buffer position at which it was opened (it tells the frame). */
    public static final class Recording {
        public final int position;
        public final List<Op> ops = new ArrayList<>();
        public String error;

        Recording(int position) {
            this.position = position;
        }

        public void add(String name, Object value) {
            ops.add(new Op(name, value));
        }

        public void fail(Throwable t) {
            if (error == null) {
                error = t.toString();
            }
        }

        /** The values of all calls of that name, in order. */
        public List<Object> values(String name) {
            List<Object> found = new ArrayList<>();
            for (Op op : ops) {
                if (op.name.equals(name)) {
                    found.add(op.value);
                }
            }
            return found;
        }
    }

    public final List<Recording> recordings = new ArrayList<>();
    private final IntSupplier position;
    private final Recorder outer;

    private Recorder(IntSupplier position, Recorder outer) {
        this.position = position;
        this.outer = outer;
    }

    /** Starts recording on this thread. Nests: a failed response makes Dubbo encode another one inside. */
    public static Recorder begin(IntSupplier position) {
        Recorder recorder = new Recorder(position, CURRENT.get());
        CURRENT.set(recorder);
        return recorder;
    }

    public void end() {
        if (outer == null) {
            CURRENT.remove();
        } else {
            CURRENT.set(outer);
        }
    }

    /** A recording for a stream opened now, or null when nobody listens (Dubbo prepares heartbeat bytes on its own). */
    public static Recording open() {
        Recorder recorder = CURRENT.get();
        if (recorder == null) {
            return null;
        }
        Recording recording = new Recording(recorder.position.getAsInt());
        recorder.recordings.add(recording);
        return recording;
    }
}
