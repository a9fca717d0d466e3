package org.dubbowire.rig.run;

import org.dubbowire.rig.edge.EdgeService;

/**
 * Calls with a timeout of 300 ms and two retries over two providers, of which the second one is slow. What the application got, and
 * when, is printed; the attempts are in the truth.
 */
final class Failover {
    private static final int TIMEOUT = 300;

    private Failover() {
    }

    static void run() throws InterruptedException {
        EdgeService patient = Remote.of(EdgeService.class).ports(Settings.PORT, Settings.PORT + 1).connections(1).get();
        EdgeService edge = Remote.of(EdgeService.class).ports(Settings.PORT, Settings.PORT + 1).connections(1).timeout(TIMEOUT).retries(2).get();
        for (int i = 0; i < 4; i++) { // both providers load their classes
            patient.ping();
            patient.slow("warm up", 0);
        }
        for (int i = 0; i < 8; i++) { // answered at once by one provider, too late by the other
            call(edge, "sometimes late " + i, 0);
        }
        for (int i = 0; i < 3; i++) { // too late at both
            call(edge, "always late " + i, 450);
        }
        for (int i = 0; i < 3; i++) { // the same text again is no retry
            call(edge, "the same", 0);
        }
        EdgeService single = Remote.of(EdgeService.class).connections(1).timeout(TIMEOUT).get();
        call(single, "without retries", 450);
        Thread.sleep(1500); // the last late responses
    }

    private static void call(EdgeService edge, String text, int millis) {
        long start = System.nanoTime();
        String outcome = "answered";
        try {
            edge.slow(text, millis);
        } catch (RuntimeException e) {
            outcome = e.getMessage().contains("imeout") || e.getMessage().contains("imed out") ? "timed out" : e.getMessage();
        }
        System.out.println("CALL " + text + " | " + outcome + " after " + (System.nanoTime() - start) / 1_000_000 + " ms");
        Step.run(text, () -> { });
    }
}
