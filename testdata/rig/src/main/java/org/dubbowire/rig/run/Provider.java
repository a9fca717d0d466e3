package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import java.util.List;
import java.util.Map;
import org.apache.dubbo.benchmark.service.UserService;
import org.apache.dubbo.common.Version;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ArgumentConfig;
import org.apache.dubbo.config.MethodConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.dubbowire.rig.edge.EdgeService;

/** Exports all services on one port, says READY, and serves until it is told to terminate. */
public final class Provider {
    private Provider() {
    }

    public static void main(String[] args) throws Exception {
        ProtocolConfig protocol = new ProtocolConfig("dubbo", Settings.PORT);
        // Dubbo refuses an IPv6 host here; it listens on all addresses anyway.
        protocol.setHost(Settings.HOST.indexOf(':') >= 0 ? "127.0.0.1" : Settings.HOST);
        protocol.setSerialization(Settings.SERIALIZATION);
        protocol.setHeartbeat(Settings.HEARTBEAT);
        protocol.setParameters(Map.of("heartbeat.timeout", "200000")); // a busy machine must not look like a dead peer
        protocol.setThreads(Settings.THREADS);
        protocol.setPayload(Settings.PAYLOAD);
        if (Settings.OPTIMIZER) {
            protocol.setOptimizer(Optimizer.class.getName());
        }
        EdgeService edge = new EdgeImpl();
        export(protocol, EchoService.class, new Services.Echo(), null, null);
        export(protocol, UserService.class, new Services.Users(), null, null);
        export(protocol, com.github.smartbuf.dubbo.UserService.class, new Services.Posts(), null, null);
        export(protocol, EdgeService.class, edge, null, null);
        export(protocol, EdgeService.class, edge, "blue", "1.2.3");
        System.out.println("READY dubbo " + Version.getVersion());
        Thread.currentThread().join();
    }

    private static <T> void export(ProtocolConfig protocol, Class<T> type, T impl, String group, String version) {
        ServiceConfig<T> service = new ServiceConfig<>();
        service.setApplication(application("rig-provider"));
        service.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        service.setProtocol(protocol);
        service.setInterface(type);
        service.setRef(impl);
        service.setGroup(group);
        service.setVersion(version);
        if (type == EdgeService.class) {
            service.setMethods(List.of(callbackMethod()));
        }
        service.export();
    }

    static ApplicationConfig application(String name) {
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        return application;
    }

    /** Both ends must know that the third argument of subscribe is a callback. */
    static MethodConfig callbackMethod() {
        ArgumentConfig listener = new ArgumentConfig();
        listener.setIndex(2);
        listener.setCallback(true);
        MethodConfig subscribe = new MethodConfig();
        subscribe.setName("subscribe");
        subscribe.setArguments(List.of(listener));
        return subscribe;
    }
}
