package org.dubbowire.rig.apache;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.apache.dubbo.common.Version;
import org.apache.dubbo.common.beanutil.JavaBeanSerializeUtil;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ArgumentConfig;
import org.apache.dubbo.config.MethodConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.rpc.RpcContext;
import org.apache.dubbo.rpc.service.EchoService;
import org.apache.dubbo.rpc.service.GenericService;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.run.Peer;
import org.dubbowire.rig.run.Remote;
import org.dubbowire.rig.run.Settings;

/** Dubbo under the name org.apache.dubbo. What differs between 2.7 and 3 is not here but in their modules. */
public class ApachePeer implements Peer {
    private final ProtocolConfig protocol = new ProtocolConfig(Settings.PROTOCOL, Settings.PORT);
    private final Queue<ReferenceConfig<?>> references = new ConcurrentLinkedQueue<>();

    public ApachePeer() {
        // Dubbo refuses an IPv6 host here; it listens on all addresses anyway.
        protocol.setHost(Settings.HOST.indexOf(':') >= 0 ? "127.0.0.1" : Settings.HOST);
        protocol.setSerialization(Settings.SERIALIZATION);
        protocol.setHeartbeat(Settings.HEARTBEAT);
        Map<String, String> parameters = new HashMap<>(Settings.parameters());
        parameters.put("heartbeat.timeout", "200000"); // a busy machine must not look like a dead peer
        if (!Settings.SECOND_PROTOCOL.isEmpty()) {
            parameters.put("ext.protocol", Settings.SECOND_PROTOCOL);
        }
        if (!Settings.ACCEPTED.isEmpty()) { // the first one is used where no request tells another
            parameters.put("prefer.serialization", Settings.SERIALIZATION + "," + Settings.ACCEPTED);
        }
        protocol.setParameters(parameters);
        protocol.setThreads(Settings.THREADS);
        protocol.setPayload(Settings.PAYLOAD);
        if (!Settings.SERVER.isEmpty()) {
            protocol.setServer(Settings.SERVER);
        }
        if (!Settings.EXTENSIONS.isEmpty()) {
            protocol.setExtension(Settings.EXTENSIONS);
        }
        if (Settings.OPTIMIZER) {
            protocol.setOptimizer(optimizer());
        }
    }

    @Override
    public String version() {
        return Version.getVersion();
    }

    @Override
    public <T> void export(Class<T> type, T implementation, String group, String version) {
        ServiceConfig<T> service = new ServiceConfig<>();
        service.setApplication(application("rig-provider"));
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
                return service.$invokeAsync(method, types.toArray(String[]::new), arguments);
            }
        };
    }

    private void configure(ReferenceConfig<?> reference, Remote<?> remote) {
        reference.setApplication(application("rig-consumer"));
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
        if (remote.type == EdgeService.class) {
            methods.add(callbackMethod()); // 3.x does not look for it in the URL
        }
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
        reference.setUrl(remote.url(Settings.OPTIMIZER ? Map.of("optimizer", optimizer()) : Map.of()));
    }

    private static String optimizer() {
        return Settings.OPTIMIZER_CLASS.isEmpty() ? Optimizer.class.getName() : Settings.OPTIMIZER_CLASS;
    }

    private static ApplicationConfig application(String name) {
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        return application;
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
        if (value instanceof String text) {
            RpcContext.getContext().setAttachment(key, text);
        } else {
            RpcContext.getContext().setObjectAttachment(key, value);
        }
    }

    @Override
    public void answer(String key, Object value) {
        if (value instanceof String text) {
            RpcContext.getServerContext().setAttachment(key, text);
        } else {
            RpcContext.getServerContext().setObjectAttachment(key, value);
        }
    }

    @Override
    public boolean requestObjectAttachments() {
        return version().compareTo("2.7.6") >= 0 || version().length() > 5;
    }

    @Override
    public boolean answerObjectAttachments() {
        return version().startsWith("2.7.2");
    }

    @Override
    public Future<?> future() {
        return RpcContext.getContext().getFuture();
    }

    @Override
    public boolean futures() {
        return true;
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
