package dubbowire;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

/**
 * Reads values of a capture from standard input, builds them as objects, lets Dubbo's serializations write them, and tells the sizes on standard
 * output. Nothing that came from the capture is ever given to a deserializer.
 */
public final class Main {
    private static final long STACK = 4 << 20;
    private static final String UNKNOWN = "the type of the message is not known: its service is neither in the class path (--classpath) nor in the schemas (--proto)";
    private static final int MOST_THREADS = 500;

    private final Reader in;
    private final DataOutputStream out;
    private final MessageDigest digest = MessageDigest.getInstance("SHA-256");
    private Classes classes;
    private Values values;
    private Signature.Cache signatures;
    private Target[] targets;
    private String[] missing; // why a target is not available
    private Clock clock;
    private Target.Body body;
    private boolean done;
    private Throwable broken;

    private Main(DataInputStream in, DataOutputStream out) throws Exception {
        this.in = new Reader(in);
        this.out = out;
    }

    public static void main(String[] args) throws Exception {
        DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
        System.setOut(System.err); // what libraries print
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16));
        System.setIn(new java.io.ByteArrayInputStream(new byte[0]));
        Main main = new Main(in, out);
        bound();
        int status = 0;
        while (!main.done) {
            // A Kryo belongs to a thread, and some remember what they were writing when it failed: then another thread goes on.
            Thread worker = new Thread(null, main::work, "estimate", STACK);
            worker.start();
            worker.join();
            if (main.broken != null) {
                System.err.println("dubbo-wire estimate: " + Failure.line(main.broken));
                status = 1;
                break;
            }
        }
        out.flush();
        Runtime.getRuntime().halt(status); // threads of libraries are of no interest
    }

    /** Ends the process when the user's classes start many threads: the machine has a limit, which others need, too. */
    private static void bound() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        PrintStream err = System.err;
        Thread watch = new Thread(() -> {
            while (threads.getThreadCount() < MOST_THREADS) {
                try {
                    Thread.sleep(10);
                } catch (InterruptedException e) {
                    continue;
                }
            }
            err.println("dubbo-wire estimate: its classes started more than " + MOST_THREADS + " threads");
            Runtime.getRuntime().halt(1);
        }, "bound");
        watch.setDaemon(true);
        watch.setPriority(Thread.MAX_PRIORITY);
        watch.start();
    }

    private void work() {
        try {
            if (targets == null) {
                start();
            }
            for (Message m; (m = in.next()) != null;) {
                boolean failed = one(m);
                if (in.idle()) {
                    out.flush();
                }
                if (failed) {
                    return;
                }
            }
            out.flush();
            if (in.timingMillis > 0) {
                clock.run(in.timingMillis, out);
            }
            out.writeByte(0);
            done = true;
        } catch (Throwable e) {
            broken = e;
        }
    }

    private void start() throws Exception {
        in.configuration();
        classes = new Classes(in.classPath);
        values = new Values(classes);
        signatures = new Signature.Cache(classes);
        body = new Target.Body(in.maxBody);
        targets = new Target[in.targets.length];
        missing = new String[in.targets.length];
        Dubbo dubbo = null;
        String none = null;
        try {
            dubbo = new Dubbo();
            dubbo.register(classes, in.registered);
        } catch (Throwable e) {
            none = Failure.line(e);
        }
        for (int i = 0; i < targets.length; i++) {
            String as = in.targets[i];
            try {
                if (as.equals("protobuf") || as.equals("triple/protobuf")) {
                    targets[i] = new Protobuf(as.startsWith("triple/"), dubbo);
                } else if (none != null) {
                    missing[i] = none;
                } else if (as.startsWith("triple/")) {
                    targets[i] = new Triple(dubbo, as.substring("triple/".length()));
                } else {
                    targets[i] = dubbo.target(dubbo.extension(as));
                    targets[i] = as.equals("protobuf-json") ? new Dynamic(targets[i], true) : targets[i];
                }
            } catch (Throwable e) {
                missing[i] = Failure.line(e);
            }
        }
        clock = new Clock(targets, in.maxBody);
        out.writeInt(Reader.MAGIC);
        text(System.getProperty("java.version") + " " + System.getProperty("java.vm.name"));
        out.writeInt(targets.length);
        for (String cause : missing) {
            text(cause);
        }
        out.flush();
    }

    /** Answers one message; true if a serialization failed that may remember where it was. */
    private boolean one(Message m) throws IOException {
        String cause = null;
        try {
            values.build(m, signatures);
        } catch (Failure | RuntimeException | StackOverflowError | OutOfMemoryError | LinkageError e) {
            cause = Failure.cut("not built: " + Failure.line(e));
        }
        if (!m.decimals) {
            m.values = null; // the objects are enough
        }
        out.writeByte(1);
        out.writeLong(m.id);
        boolean failed = false;
        int place = in.timingMillis > 0 && cause == null ? clock.place(m) : -1;
        for (int i = 0; i < targets.length; i++) {
            String why = missing[i] != null ? missing[i] : cause != null ? cause : refused(m, in.targets[i]);
            if (why == null) {
                try {
                    if (m.decimals && i > 0) {
                        values.rebuild(m, signatures);
                    }
                    body.reset();
                    targets[i].encode(m, body);
                } catch (ThreadDeath e) {
                    throw e;
                } catch (Throwable e) {
                    why = Failure.line(e);
                    if (tooLarge(e)) {
                        why = "too large";
                    } else if (in.targets[i].equals("avro") && why.startsWith("NullPointerException")) {
                        String found = Nulls.first(m);
                        why = found == null ? why : found + ": this service could not use avro as it is";
                    }
                    if (m.protobufOnly && why.contains("google protobuf object")) {
                        why = UNKNOWN;
                    }
                    failed |= in.targets[i].contains("kryo") || in.targets[i].contains("fst");
                }
            }
            if (why != null) {
                out.writeByte(1);
                text(why);
                continue;
            }
            out.writeByte(0);
            out.writeInt(body.size());
            digest.update(body.array(), 0, body.size());
            out.write(digest.digest(), 0, 8);
            if (place >= 0) {
                clock.keep(i, m, place, body.copy());
            }
        }
        m.values = null;
        return failed;
    }

    /** Why a message cannot be written by a serialization that would write something; null if it can. */
    private static String refused(Message m, String as) {
        if (m.unwritten != null && !as.equals("avro")) {
            return m.unwritten;
        }
        if (m.protobufOnly && !m.messages && as.equals("triple/protobuf") && m.hasValues()) {
            return UNKNOWN;
        }
        if ((m.messages || m.protobufOnly && m.hasValues()) && !as.equals("triple/protobuf") && !as.startsWith("protobuf")) {
            return "a message of protocol buffers: the service would have to take objects of other classes";
        }
        return null;
    }

    private static boolean tooLarge(Throwable e) {
        Throwable t = e;
        for (int i = 0; i < 20 && t != null; i++, t = t.getCause()) {
            if (t instanceof Target.TooLarge) {
                return true;
            }
        }
        return false;
    }

    private void text(String s) throws IOException {
        text(s, out);
    }

    static void text(String s, DataOutputStream out) throws IOException {
        if (s == null) {
            out.writeInt(-1);
            return;
        }
        byte[] utf8 = s.getBytes(StandardCharsets.UTF_8);
        out.writeInt(utf8.length);
        out.write(utf8);
    }
}
