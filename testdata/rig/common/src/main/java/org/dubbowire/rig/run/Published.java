package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import org.apache.dubbo.benchmark.service.UserService;

/** The workloads that people know from published comparisons. */
final class Published {
    private Published() {
    }

    static void run() {
        bid();
        text();
        users();
        posts();
    }

    static void bid() {
        EchoService echo = Remote.of(EchoService.class).get();
        for (int i = 0; i < 20 * Settings.REPEAT; i++) {
            Step.run("bid", () -> echo.bid(Data.bid()));
        }
        for (int i = 0; i < 5; i++) {
            Step.run("bid full", () -> echo.bid(Data.fullBid()));
        }
    }

    /** A few objects of the users' services. */
    static void someUsers() {
        UserService users = Remote.of(UserService.class).get();
        for (int i = 0; i < 3; i++) {
            int n = i;
            Step.run("createUser", () -> users.createUser(Data.user(n, "")));
            Step.run("getUser", () -> users.getUser(n * 1_000_000_007L));
        }
        Step.run("listUser", () -> users.listUser(1));
        var service = Remote.of(com.github.smartbuf.dubbo.UserService.class).get();
        Step.run("posts", () -> service.queryPost("dubbo"));
        Step.run("user", () -> service.getUser(10000));
    }

    private static void text() {
        EchoService echo = Remote.of(EchoService.class).get();
        String text = Data.text50k();
        for (int i = 0; i < 5; i++) {
            Step.run("text", () -> echo.text(text));
        }
    }

    private static void users() {
        UserService users = Remote.of(UserService.class).get();
        for (int i = 0; i < 20; i++) {
            int n = i;
            Step.run("existUser", () -> users.existUser("jdoe" + n + "@example.org" + n));
            Step.run("createUser", () -> users.createUser(Data.user(n, "")));
            Step.run("getUser", () -> users.getUser(n * 1_000_000_007L));
            if (n < 8) {
                Step.run("listUser", () -> users.listUser(n));
            }
        }
    }

    /** Users as they were before java.time. */
    static void undated() {
        UserService users = Remote.of(UserService.class).get();
        for (int i = 1; i <= 5; i++) {
            int n = i;
            Step.run("createUser undated", () -> users.createUser(Data.undated(Data.user(n, ""))));
            Step.run("getUser undated", () -> users.getUser(-n * 1_000_000_007L));
            Step.run("listUser undated", () -> users.listUser(-n));
        }
    }

    private static void posts() {
        var service = Remote.of(com.github.smartbuf.dubbo.UserService.class).get();
        for (int i = 0; i < 4; i++) {
            Step.run("posts", () -> service.queryPost("dubbo"));
        }
        for (int i = 0; i < 10; i++) {
            Step.run("user", () -> service.getUser(10000));
        }
        for (int i = 0; i < 20; i++) {
            int n = i;
            Step.run("tiny", () -> service.tiny("x".repeat(n)));
        }
    }
}
