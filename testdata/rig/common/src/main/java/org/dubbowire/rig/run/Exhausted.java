package org.dubbowire.rig.run;

import java.util.ArrayList;
import java.util.List;
import org.dubbowire.rig.edge.EdgeService;

/** More slow calls than the provider has threads (status 100), and answers above its payload limit (status 50). */
final class Exhausted {
    private Exhausted() {
    }

    static void run() throws InterruptedException {
        EdgeService edge = Remote.of(EdgeService.class).get();
        Step.run("warm up", () -> edge.ping());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            int n = i;
            Thread thread = new Thread(() -> {
                try {
                    edge.slow("slow " + n, 400);
                } catch (RuntimeException e) {
                    // the refusal is the point
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join();
        }
        Thread.sleep(500);
        Step.fails("answer above the limit", () -> edge.big(Settings.PAYLOAD + 1000));
        // Unlike a text, bytes are not quoted in the refusal, which would then be above the limit itself.
        for (int i = 0; i < 3; i++) {
            Step.fails("bytes above the limit", () -> edge.bigBytes(Settings.PAYLOAD * 15));
            Step.run("ping", () -> edge.ping());
        }
        Step.run("answer below the limit", () -> edge.big(Settings.PAYLOAD / 2));
    }
}
