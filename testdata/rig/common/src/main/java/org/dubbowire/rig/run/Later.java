package org.dubbowire.rig.run;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.dubbowire.rig.edge.EdgeService;

/** Calls that are in flight together. */
final class Later {
    /** A thread for each call: all of them wait. */
    private static final Executor THREADS = task -> {
        Thread thread = new Thread(task, "later");
        thread.setDaemon(true);
        thread.start();
    };

    private Later() {
    }

    /** Answers the text after that time: through a method that returns a future, or a waiting thread where Dubbo has no such methods. */
    static CompletableFuture<String> call(EdgeService edge, String text, int millis) {
        if (Peer.CURRENT.futures()) {
            return edge.future(text, millis);
        }
        return CompletableFuture.supplyAsync(() -> edge.slow(text, millis), THREADS);
    }
}
