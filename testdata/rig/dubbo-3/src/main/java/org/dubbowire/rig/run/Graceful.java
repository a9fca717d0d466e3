package org.dubbowire.rig.run;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.rpc.GracefulShutdown;
import org.apache.dubbo.rpc.model.FrameworkModel;

/** A provider that leaves and comes back: the events R and W, on every connection. */
public final class Graceful implements Extra {
    /** What the provider does is its side of the workload. */
    public interface Service {
        void leave(int millis);
    }

    private static final class Implementation implements Service {
        private final List<GracefulShutdown> switches = GracefulShutdown.getGracefulShutdowns(FrameworkModel.defaultModel());

        @Override
        public void leave(int millis) {
            switches.forEach(GracefulShutdown::readonly);
            // Nobody calls a provider that has left: it must come back by itself.
            CompletableFuture.delayedExecutor(millis, TimeUnit.MILLISECONDS).execute(() -> switches.forEach(GracefulShutdown::writeable));
        }
    }

    @Override
    public String name() {
        return "graceful";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(Service.class, new Implementation(), null, null);
    }

    @Override
    public void run() throws Exception {
        Service service = Remote.of(Service.class).get();
        Service second = Remote.of(Service.class).connections(1).get();
        for (int i = 0; i < 3; i++) {
            Step.run("leave", () -> service.leave(200));
            Thread.sleep(500);
            Step.run("leave", () -> second.leave(100)); // on another connection
            Thread.sleep(400);
        }
    }
}
