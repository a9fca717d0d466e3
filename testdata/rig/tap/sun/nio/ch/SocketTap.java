package sun.nio.ch;

import java.io.FileDescriptor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import jdk.internal.misc.Unsafe;

/** Hands the bytes of each connection to whoever wants to see them. */
public final class SocketTap {
    /**
     * From local and remote address to what sees that connection's bytes: whether they were received, and the bytes, null where that direction has ended. Null for
     * connections that do not matter.
     */
    public static volatile Function<InetSocketAddress[], BiConsumer<Boolean, byte[]>> taps;

    private static final class Connection { // a lock of its own
        private final BiConsumer<Boolean, byte[]> tap;

        Connection(BiConsumer<Boolean, byte[]> tap) {
            this.tap = tap;
        }

        synchronized void see(boolean received, byte[] bytes) {
            if (tap != null) {
                tap.accept(received, bytes);
            }
        }
    }

    private static final Connection NONE = new Connection(null);
    private static final int VECTOR = 16; // struct iovec of 64 bits: address, length
    private static final Unsafe UNSAFE = Unsafe.getUnsafe();
    private static final Map<FileDescriptor, Connection> CONNECTIONS = Collections.synchronizedMap(new IdentityHashMap<>());

    private SocketTap() {
    }

    /** What is locked while bytes are written and seen. */
    static Connection of(FileDescriptor fd) {
        if (taps == null) {
            return NONE;
        }
        return CONNECTIONS.computeIfAbsent(fd, key -> {
            try {
                return new Connection(taps.apply(new InetSocketAddress[] {Net.localAddress(fd), Net.remoteAddress(fd)}));
            } catch (IOException e) {
                return new Connection(null); // not connected: a write that will fail
            }
        });
    }

    static void read(FileDescriptor fd, long address, int n) {
        if (taps != null && (n > 0 || n == IOStatus.EOF)) {
            see(fd, true, n > 0 ? copy(address, n) : null);
        }
    }

    static void written(FileDescriptor fd, long address, int n) {
        if (taps != null && n > 0) {
            see(fd, false, copy(address, n));
        }
    }

    static void readv(FileDescriptor fd, long vectors, long n) {
        if (taps != null && (n > 0 || n == IOStatus.EOF)) {
            see(fd, true, n > 0 ? gather(vectors, n) : null);
        }
    }

    static void writtenv(FileDescriptor fd, long vectors, long n) {
        if (taps != null && n > 0) {
            see(fd, false, gather(vectors, n));
        }
    }

    static void closed(FileDescriptor fd) {
        Connection connection = CONNECTIONS.remove(fd);
        if (connection != null) {
            connection.see(true, null);
            connection.see(false, null);
            CONNECTIONS.put(fd, NONE); // until the descriptor itself is closed
        }
    }

    private static void see(FileDescriptor fd, boolean received, byte[] bytes) {
        of(fd).see(received, bytes);
    }

    private static byte[] copy(long address, int n) {
        byte[] bytes = new byte[n];
        UNSAFE.copyMemory(null, address, bytes, Unsafe.ARRAY_BYTE_BASE_OFFSET, n);
        return bytes;
    }

    private static byte[] gather(long vectors, long n) {
        byte[] bytes = new byte[(int) n];
        int at = 0;
        for (long vector = vectors; at < bytes.length; vector += VECTOR) {
            int length = (int) Math.min(UNSAFE.getLong(vector + 8), bytes.length - at);
            UNSAFE.copyMemory(null, UNSAFE.getLong(vector), bytes, Unsafe.ARRAY_BYTE_BASE_OFFSET + at, length);
            at += length;
        }
        return bytes;
    }
}
