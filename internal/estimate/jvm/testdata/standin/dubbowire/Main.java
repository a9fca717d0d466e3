package dubbowire;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;

/** Speaks as the helper does, and misbehaves as the method of a message says. */
public class Main {
    static DataInputStream in = new DataInputStream(System.in);
    static DataOutputStream out;

    public static void main(String[] args) throws Exception {
        ByteArrayOutputStream held = new ByteArrayOutputStream();
        FileOutputStream stdout = new FileOutputStream(FileDescriptor.out);
        out = new DataOutputStream(held);
        in.readInt();
        String[] targets = texts();
        int timing = in.readInt();
        in.readInt();
        String[] path = texts(), registered = texts();
        out.writeInt(0x44574531);
        text(System.getProperty("java.version") + " stand-in");
        out.writeInt(targets.length);
        for (String t : targets) {
            text(t.startsWith("no ") ? t + " here" : null);
        }
        flush(held, stdout);
        for (int kind; (kind = in.readUnsignedByte()) != 0;) {
            long id = in.readLong();
            in.readInt();
            String method = null;
            for (int i = 0; i < 5; i++) {
                String t = text();
                if (i == 3) {
                    method = t;
                }
            }
            in.readByte();
            in.readInt();
            in.readByte();
            switch (method) {
                case "hang":
                    Thread.sleep(1000000);
                case "exit":
                    System.err.println("java.lang.IllegalStateException: it is over");
                    System.err.println("\tat some.Where(Else.java:1)");
                    System.exit(7);
                case "crash":
                    Runtime.getRuntime().halt(3);
                case "junk":
                    out.write(new byte[100]);
                    out.write(9);
                    break;
                case "long":
                    out.writeByte(1);
                    out.writeLong(id);
                    out.writeByte(1);
                    out.writeInt(Integer.MAX_VALUE);
                    break;
                case "other":
                    id += 1000;
                    break;
                case "endless":
                    for (;;) {
                        stdout.write(new byte[] {2, 0, 0, 0, 0});
                        stdout.write(new byte[4 + 1 + 32]);
                    }
                case "stderr":
                    for (int i = 0; i < 20000; i++) {
                        System.err.println("a line of no interest, which comes again and again " + i);
                    }
                    break;
                case "grandchild":
                    new ProcessBuilder("sleep", "1000").inheritIO().start();
                    break;
                case "memory":
                    byte[][] all = new byte[100000][];
                    for (int i = 0; i < all.length; i++) {
                        all[i] = new byte[1 << 20];
                    }
            }
            out.writeByte(1);
            out.writeLong(id);
            for (int i = 0; i < targets.length; i++) {
                String cause = null;
                switch (method) {
                    case "path":
                        cause = String.join(",", path);
                        break;
                    case "options":
                        cause = ManagementFactory.getRuntimeMXBean().getInputArguments() + " " + System.getenv("JAVA_TOOL_OPTIONS") + " " + System.getProperty("user.dir");
                        break;
                    case "cause":
                        cause = "two\nlines \u001b[31m" + "x".concat(new String(new char[1000]).replace('\0', 'y'));
                        break;
                    case "load":
                        cause = Class.forName("model.Order").getName() + " " + Class.forName("model.Library").getName();
                        break;
                }
                out.writeByte(cause == null ? 0 : 1);
                if (cause == null) {
                    out.writeInt(method.length() + i);
                    out.writeLong(id);
                } else {
                    text(cause);
                }
            }
            if (System.in.available() == 0 || held.size() > 1 << 16) {
                flush(held, stdout);
            }
        }
        for (int i = 0; timing > 0 && i < targets.length; i++) {
            out.writeByte(2);
            out.writeInt(i);
            out.writeInt(5);
            out.writeByte(1);
            for (int k = 0; k < 4; k++) {
                out.writeLong(k - 1);
            }
        }
        out.writeByte(0);
        flush(held, stdout);
    }

    static void flush(ByteArrayOutputStream held, FileOutputStream to) throws IOException {
        held.writeTo(to);
        held.reset();
    }

    static String[] texts() throws IOException {
        String[] all = new String[in.readInt()];
        for (int i = 0; i < all.length; i++) {
            all[i] = text();
        }
        return all;
    }

    static String text() throws IOException {
        int n = in.readInt();
        if (n < 0) {
            return null;
        }
        byte[] b = new byte[n];
        in.readFully(b);
        return new String(b, StandardCharsets.UTF_8);
    }

    static void text(String t) throws IOException {
        if (t == null) {
            out.writeInt(-1);
            return;
        }
        byte[] b = t.getBytes(StandardCharsets.UTF_8);
        out.writeInt(b.length);
        out.write(b);
    }
}
