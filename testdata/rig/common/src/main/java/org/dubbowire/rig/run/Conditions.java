package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import org.apache.dubbo.benchmark.service.UserService;

/** A steady mixture of small and large frames, for captures about the network rather than about values. */
final class Conditions {
    private Conditions() {
    }

    static void run() throws InterruptedException {
        EchoService echo = Remote.of(EchoService.class).get();
        UserService users = Remote.of(UserService.class).get();
        for (int i = 0; i < 60 * Settings.REPEAT; i++) {
            int n = i;
            Step.run("bid", () -> echo.bid(Data.bid()));
            Step.run("existUser", () -> users.existUser("jdoe" + n));
            if (n % 6 == 0) {
                Step.run("listUser", () -> users.listUser(n));
            }
            if (n % 15 == 0) {
                Step.run("text", () -> echo.text(Data.text(1000, n).repeat(20)));
            }
            Thread.sleep(Settings.PAUSE);
        }
    }
}
