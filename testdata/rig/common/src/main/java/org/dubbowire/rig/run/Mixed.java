package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Node;

/** Several serializations: the consumer chooses per reference, on one connection or on many. */
final class Mixed {
    private Mixed() {
    }

    static void run() {
        for (int round = 0; round < 3; round++) {
            for (String name : Settings.SERIALIZATIONS) {
                EchoService echo = Remote.of(EchoService.class).serialization(name).connections(Settings.CONNECTIONS).get();
                UserService users = Remote.of(UserService.class).serialization(name).connections(Settings.CONNECTIONS).get();
                EdgeService edge = Remote.of(EdgeService.class).serialization(name).connections(Settings.CONNECTIONS).get();
                Step.run(name + " bid", () -> echo.bid(Data.bid()));
                Step.run(name + " text", () -> echo.text("mixed " + name));
                Step.run(name + " existUser", () -> users.existUser(name));
                Step.run(name + " add", () -> edge.add(1, 2));
                Step.run(name + " echoNode", () -> edge.echoNode(new Node(1, name)));
            }
        }
    }
}
