package org.dubbowire.rig.run;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.dubbowire.rig.edge.EdgeService;

/** Hundreds of calls at once on one connection, some with bodies of many frames, answered in another order. */
public final class Multiplexed implements Extra {
    @Override
    public String name() {
        return "multiplexed";
    }

    @Override
    public void export() {
        // only services that are there anyway
    }

    @Override
    public void run() {
        EdgeService edge = Remote.of(EdgeService.class).get();
        Step.run("first", edge::ping); // the connection is there
        Step.run("multiplexed", () -> {
            List<CompletableFuture<String>> calls = new ArrayList<>();
            for (int i = 0; i < 300 * Settings.REPEAT; i++) {
                int length = i % 50 == 25 ? 40_000 + i : i;
                calls.add(edge.future("call " + i + " " + Data.text(length, i), i * 7919 % 97));
                if (Settings.PAUSE > 0 && i % 20 == 19) {
                    Thread.sleep(Settings.PAUSE);
                }
            }
            CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(20, TimeUnit.SECONDS);
        });
    }
}
