package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.edge.EdgeService;

/** Consumers that come and go, until they are killed: what makes an observer forget, or not. */
final class Churn {
    private static final AtomicLong CALLS = new AtomicLong();
    private static final AtomicLong FAILED = new AtomicLong();

    private Churn() {
    }

    /** Connections that live for a few calls. The last one of each is never answered. */
    static void shortLived() throws Exception {
        for (long n = 0; ; n++) {
            String serialization = Settings.SERIALIZATIONS[(int) (n % Settings.SERIALIZATIONS.length)];
            UserService users = Remote.of(UserService.class).serialization(serialization).connections(1).get();
            EchoService echo = Remote.of(EchoService.class).serialization(serialization).connections(1).get();
            EdgeService edge = Remote.of(EdgeService.class).serialization(serialization).connections(1).timeout(50).get();
            for (int i = 0; i < 5; i++) {
                long id = n * 5 + i;
                attempt(() -> users.getUser(id));
                attempt(() -> echo.bid(Data.bid()));
            }
            CALLS.incrementAndGet();
            try {
                edge.future("never", 3_600_000).get();
            } catch (Exception e) {
                // the point of it
            }
            Peer.CURRENT.leave();
            if (n % 100 == 0) {
                System.out.println("CHURN " + CALLS + " calls, " + FAILED + " failed");
            }
            Thread.sleep(Settings.PAUSE);
        }
    }

    /** Connections that are kept, and lost again and again: somebody between the two breaks them. */
    static void broken() throws InterruptedException {
        for (String serialization : Settings.SERIALIZATIONS) {
            for (int i = 0; i < 4; i++) {
                EchoService echo = Remote.of(EchoService.class).serialization(serialization).connections(1).timeout(500).get();
                Thread thread = new Thread(() -> {
                    for (long n = 0; ; n++) {
                        String text = Data.text((int) (n * 37 % 3000), (int) n);
                        attempt(() -> echo.text(text));
                        pause();
                    }
                }, "broken " + serialization + " " + i);
                thread.setDaemon(true);
                thread.start();
            }
        }
        while (true) {
            Thread.sleep(10_000);
            System.out.println("CHURN " + CALLS + " calls, " + FAILED + " failed");
        }
    }

    private static void pause() {
        try {
            Thread.sleep(50);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void attempt(Runnable call) {
        CALLS.incrementAndGet();
        try {
            call.run();
        } catch (RuntimeException e) {
            FAILED.incrementAndGet();
        }
    }
}
