package org.dubbowire.rig.truth;

import java.net.InetSocketAddress;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.dubbowire.rig.run.Settings;

/**
 * Logs the HTTP/1 messages of every connection of this JVM with the port of the settings, whatever program or library uses it: the bytes come from the tap
 * in the JDK's own SocketDispatcher (the folder tap), which is there where captures.sh put it.
 */
public final class SocketTruth {
    private SocketTruth() {
    }

    public static void install() throws ReflectiveOperationException {
        Class<?> tap;
        try {
            tap = Class.forName("sun.nio.ch.SocketTap");
        } catch (ClassNotFoundException e) {
            return;
        }
        Function<InetSocketAddress[], BiConsumer<Boolean, byte[]>> taps = SocketTruth::of;
        tap.getField("taps").set(null, taps);
    }

    private static BiConsumer<Boolean, byte[]> of(InetSocketAddress[] ends) {
        boolean server = ends[0].getPort() == Settings.PORT;
        if (!server && ends[1].getPort() != Settings.PORT) {
            return null;
        }
        Ends of = new Ends(ends[0], ends[1]);
        Http1Direction requests = new Http1Direction(of, server ? "in" : "out", null);
        Http1Direction responses = new Http1Direction(of, server ? "out" : "in", requests);
        return (received, bytes) -> {
            Http1Direction direction = received == server ? requests : responses;
            try {
                if (bytes == null) {
                    direction.end();
                } else {
                    direction.add(bytes);
                }
            } catch (RuntimeException | LinkageError e) { // the program must not notice
                e.printStackTrace();
            }
        };
    }
}
