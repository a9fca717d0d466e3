package org.dubbowire.rig.alibaba;

import com.alibaba.dubbo.common.Version;
import com.alibaba.dubbo.common.beanutil.JavaBeanSerializeUtil;
import com.alibaba.dubbo.config.ApplicationConfig;
import com.alibaba.dubbo.config.ArgumentConfig;
import com.alibaba.dubbo.config.MethodConfig;
import com.alibaba.dubbo.config.ProtocolConfig;
import com.alibaba.dubbo.config.ReferenceConfig;
import com.alibaba.dubbo.config.RegistryConfig;
import com.alibaba.dubbo.config.ServiceConfig;
import com.alibaba.dubbo.rpc.RpcContext;
import com.alibaba.dubbo.rpc.service.EchoService;
import com.alibaba.dubbo.rpc.service.GenericService;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.run.Peer;
import org.dubbowire.rig.run.Remote;
import org.dubbowire.rig.run.Settings;

/** Dubbo under the name com.alibaba.dubbo: 2.5 and 2.6. */
public final class AlibabaPeer implements Peer {
    /** Only 2.6 has optimizers; its module has the class. */
    private static final String OPTIMIZER = Settings.OPTIMIZER_CLASS.isEmpty() ? "org.dubbowire.rig.alibaba.Optimizer" : Settings.OPTIMIZER_CLASS;
    private final ProtocolConfig protocol = new ProtocolConfig(Settings.PROTOCOL, Settings.PORT);
    private final Queue<ReferenceConfig<?>> references = new ConcurrentLinkedQueue<>();

    public AlibabaPeer() {
        protocol.setHost(Settings.HOST.indexOf(':') >= 0 ? "127.0.0.1" : Settings.HOST);
        protocol.setSerialization(Settings.SERIALIZATION);
        protocol.setHeartbeat(Settings.HEARTBEAT);
        Map<String, String> parameters = new HashMap<>(optimizer());
        parameters.put("heartbeat.timeout", "200000"); // a busy machine must not look like a dead peer
        parameters.put("channel.readonly.send", "true"); // 2.5.3 says farewell only when told to
        protocol.setParameters(parameters);
        protocol.setThreads(Settings.THREADS);
        protocol.setPayload(Settings.PAYLOAD);
    }

    private static Map<String, String> optimizer() {
        return Settings.OPTIMIZER ? Map.of("optimizer", OPTIMIZER) : Map.of();
    }

    @Override
    public String version() {
        return Version.getVersion();
    }

    @Override
    public <T> void export(Class<T> type, T implementation, String group, String version) {
        ServiceConfig<T> service = new ServiceConfig<>();
        service.setApplication(new ApplicationConfig("rig-provider"));
        service.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        service.setProtocol(protocol);
        service.setInterface(type);
        service.setRef(implementation);
        service.setGroup(group);
        service.setVersion(version);
        if (type == EdgeService.class) {
            service.setMethods(List.of(callbackMethod()));
        }
        service.export();
    }

    @Override
    public <T> T refer(Remote<T> remote) {
        ReferenceConfig<T> reference = new ReferenceConfig<>();
        reference.setInterface(remote.type);
        configure(reference, remote);
        references.add(reference);
        return reference.get();
    }

    @Override
    public void leave() {
        for (ReferenceConfig<?> reference = references.poll(); reference != null; reference = references.poll()) {
            reference.destroy();
        }
    }

    @Override
    public Generic referGeneric(Remote<?> remote) {
        ReferenceConfig<GenericService> reference = new ReferenceConfig<>();
        reference.setInterface(remote.name);
        reference.setGeneric(remote.generic);
        configure(reference, remote);
        references.add(reference);
        GenericService service = reference.get();
        return new Generic() {
            @Override
            public Object invoke(String method, List<String> types, Object... arguments) {
                return service.$invoke(method, types.toArray(String[]::new), arguments);
            }

            @Override
            public CompletableFuture<Object> invokeAsync(String method, List<String> types, Object... arguments) {
                throw new UnsupportedOperationException("GenericService has no $invokeAsync before 2.7");
            }
        };
    }

    private static void configure(ReferenceConfig<?> reference, Remote<?> remote) {
        reference.setApplication(new ApplicationConfig("rig-consumer"));
        reference.setRegistry(new RegistryConfig(RegistryConfig.NO_AVAILABLE));
        reference.setTimeout(remote.timeout);
        reference.setRetries(remote.retries);
        reference.setCheck(false);
        reference.setGroup(remote.group);
        reference.setVersion(remote.version);
        if (remote.connections > 0) {
            reference.setConnections(remote.connections);
        }
        List<MethodConfig> methods = new ArrayList<>();
        for (String name : remote.oneWay) {
            MethodConfig method = method(name);
            method.setReturn(false);
            methods.add(method);
        }
        for (String name : remote.async) {
            MethodConfig method = method(name);
            method.setAsync(true);
            methods.add(method);
        }
        if (!methods.isEmpty()) {
            reference.setMethods(methods);
        }
        reference.setUrl(remote.url(optimizer()));
    }

    private static MethodConfig method(String name) {
        MethodConfig method = new MethodConfig();
        method.setName(name);
        return method;
    }

    /** Both ends must know that the third argument of subscribe is a callback. */
    private static MethodConfig callbackMethod() {
        ArgumentConfig listener = new ArgumentConfig();
        listener.setIndex(2);
        listener.setCallback(true);
        MethodConfig subscribe = method("subscribe");
        subscribe.setArguments(List.of(listener));
        return subscribe;
    }

    @Override
    public void newContext() {
        RpcContext.removeContext();
    }

    @Override
    public void attach(String key, Object value) {
        RpcContext.getContext().setAttachment(key, (String) value);
    }

    @Override
    public void answer(String key, Object value) {
        serverContext().setAttachment(key, (String) value);
    }

    /** Answers have attachments since 2.6.3; before, a service can set them, but they do not travel. */
    private static RpcContext serverContext() {
        try {
            return (RpcContext) RpcContext.class.getMethod("getServerContext").invoke(null);
        } catch (NoSuchMethodException e) {
            return RpcContext.getContext();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public boolean requestObjectAttachments() {
        return false;
    }

    @Override
    public boolean answerObjectAttachments() {
        return false;
    }

    @Override
    public Future<?> future() {
        return RpcContext.getContext().getFuture();
    }

    @Override
    public boolean futures() {
        return false;
    }

    @Override
    public Object echo(Object stub, Object value) {
        return ((EchoService) stub).$echo(value);
    }

    @Override
    public Object describe(Object bean) {
        return JavaBeanSerializeUtil.serialize(bean);
    }
}
