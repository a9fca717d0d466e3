package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import com.alibaba.dubbo.rpc.benchmark.EchoService;
import com.github.smartbuf.dubbo.UserService;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;

/**
 * Calls one method after the other from many threads, as fast as the answers come: for tables.sh, which measures on the
 * wire. For some seconds each, after all have been called for a while (both JVMs compile meanwhile); the start of each is a
 * line START METHOD. What the caller measured is a line CALLS METHOD NUMBER SECONDS MICROSECONDS: calls, how long they went on, and
 * the mean time of a call, with the writing of its argument and the reading of its result.
 */
final class Load {
    private static final String[] METHODS = System.getProperty("rig.load.methods", "existUser").split(",");
    private static final int THREADS = Integer.getInteger("rig.load.threads", 32);
    private static final int WARM_UP = Integer.getInteger("rig.load.warmUp", 0);
    /** Milliseconds without calls after START, before a new connection for each method; 0: all share the first one. */
    private static final int FRESH = Integer.getInteger("rig.load.fresh", 0);
    private static final int SECONDS = Integer.getInteger("rig.load.seconds", 0);
    private final LongConsumer call;
    private final AtomicLong next = new AtomicLong();
    private final LongAdder calls = new LongAdder();
    private final LongAdder nanos = new LongAdder();
    private final AtomicLong failed = new AtomicLong();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private volatile boolean stop;

    private Load(LongConsumer call) {
        this.call = call;
    }

    static void run() throws InterruptedException {
        for (String method : METHODS) {
            if (WARM_UP > 0) {
                new Load(call(method)).run(WARM_UP);
            }
        }
        for (String method : METHODS) {
            System.out.println("START " + method);
            if (FRESH > 0) {
                Peer.CURRENT.leave();
                Thread.sleep(FRESH);
            }
            Load load = new Load(call(method));
            long start = System.nanoTime();
            String failures = load.run(SECONDS);
            double seconds = (System.nanoTime() - start) / 1e9;
            System.out.printf(Locale.ROOT, "CALLS %s %d %.3f %.3f%n", method, load.calls.sum(), seconds, load.nanos.sum() / 1e3 / Math.max(1, load.calls.sum()));
            System.out.println("LOAD " + method + " failed " + failures);
        }
    }

    private static LongConsumer call(String what) {
        int at = what.indexOf('@'); // existUser@kryo: not in the serialization of the settings
        String method = at < 0 ? what : what.substring(0, at);
        String serialization = at < 0 ? Settings.SERIALIZATION : what.substring(at + 1);
        if (!Settings.EXTRA.isEmpty()) {
            return Extra.named(Settings.EXTRA.get(0)).load(method);
        }
        if (serialization.equals("protobuf")) {
            return Protobuf.load(method);
        }
        var users = Remote.of(org.apache.dubbo.benchmark.service.UserService.class).serialization(serialization).get();
        UserService posts = Remote.of(UserService.class).serialization(serialization).get();
        EchoService echo = Remote.of(EchoService.class).serialization(serialization).get();
        BidRequest bid = Data.bid();
        String text = Data.text50k();
        return switch (method) {
            case "existUser" -> n -> users.existUser("jdoe" + n % 10 + "@example.org");
            case "createUser" -> n -> users.createUser(Data.user(n, ""));
            case "getUser" -> users::getUser;
            case "listUser" -> n -> users.listUser((int) (n % 1000));
            case "posts" -> n -> posts.queryPost("dubbo");
            case "user" -> n -> posts.getUser(10000);
            case "tiny" -> n -> posts.tiny("hello");
            case "bid" -> n -> echo.bid(bid);
            case "text" -> n -> echo.text(text);
            default -> throw new IllegalArgumentException("no load of " + method);
        };
    }

    /** How many calls failed, and the first failure. */
    private String run(int seconds) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Thread thread = new Thread(this::work, "load " + i);
            thread.start();
            threads.add(thread);
        }
        Thread.sleep(seconds * 1000L);
        stop = true;
        for (Thread thread : threads) {
            thread.join();
        }
        Throwable first = failure.get();
        return failed + (first == null ? "" : " " + Step.firstLine(first));
    }

    private void work() {
        for (long n = next.getAndIncrement(); !stop; n = next.getAndIncrement()) {
            try {
                long start = System.nanoTime();
                call.accept(n);
                nanos.add(System.nanoTime() - start);
                calls.increment();
            } catch (RuntimeException e) {
                failed.incrementAndGet();
                failure.compareAndSet(null, e);
            }
        }
    }
}
