package org.dubbowire.rig.run;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.dubbowire.rig.edge.EdgeService;

/** 200 calls in flight on one connection, answered in another order. */
final class Interleaved {
    private Interleaved() {
    }

    static void run() {
        EdgeService edge = Remote.of(EdgeService.class).get();
        Step.run("interleaved", () -> {
            List<CompletableFuture<String>> calls = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                calls.add(Later.call(edge, "call " + i + " " + Data.text(i * 5, i), 20 + i * 7919 % 211));
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        });
    }
}
