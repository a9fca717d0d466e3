package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import java.util.List;
import org.apache.dubbo.benchmark.service.UserService;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.truth.SocketTruth;

/** Exports all services on one port, says READY, and serves until it is told to terminate. */
public final class Provider {
    private Provider() {
    }

    public static void main(String[] args) throws Exception {
        SocketTruth.install();
        Peer peer = Peer.CURRENT;
        // REST takes only interfaces with annotations, Thrift only what its compiler generates.
        if (!List.of("rest", "thrift", "native-thrift").contains(Settings.PROTOCOL)) {
            EdgeService edge = new EdgeImpl();
            peer.export(EchoService.class, new Services.Echo(), null, null);
            peer.export(UserService.class, new Services.Users(), null, null);
            peer.export(com.github.smartbuf.dubbo.UserService.class, new Services.Posts(), null, null);
            peer.export(EdgeService.class, edge, null, null);
            peer.export(EdgeService.class, edge, "blue", "1.2.3");
            Protobuf.export(peer);
        }
        for (String extra : Settings.EXTRA) {
            Extra.named(extra).export();
        }
        System.out.println("READY dubbo " + peer.version());
        Thread.currentThread().join();
    }
}
