package org.dubbowire.rig.truth;

import java.net.Inet6Address;
import java.net.InetSocketAddress;

/** The two ends of a connection, seen from the side that logs. */
public record Ends(InetSocketAddress local, InetSocketAddress remote) {
    String localText() {
        return text(local);
    }

    String remoteText() {
        return text(remote);
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        if (address.getAddress() instanceof Inet6Address) {
            // Java writes all groups; the short form leaves out the first run of zeros. Good enough for ::1 and the like.
            host = "[" + host.replaceFirst("%.*", "").replaceFirst("(^|:)(0(:|$)){2,}", "::") + "]";
        }
        return host + ":" + address.getPort();
    }
}
