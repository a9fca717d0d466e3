package org.dubbowire.rig.run;

import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * Dubbo, as far as the workloads need it. Each generation implements it once (META-INF/services), because packages and
 * methods differ; nothing else in the rig knows which generation runs. What a generation does not have throws, inside a
 * step, so that it is reported with its error.
 */
public interface Peer {
    /** Null where there is no Dubbo (grpc-java). */
    Peer CURRENT = ServiceLoader.load(Peer.class).findFirst().orElse(null);

    /** The release that runs. */
    String version();

    /** Exports one service on the port of the settings; group and version may be null. */
    <T> void export(Class<T> type, T implementation, String group, String version);

    /** A stub for the provider that the settings name, without a registry. */
    <T> T refer(Remote<T> remote);

    Generic referGeneric(Remote<?> remote);

    /** Closes all references, and with them the connections that only they used. */
    void leave();

    /** Forgets attachments and futures of earlier calls on this thread. */
    void newContext();

    /** Sets an attachment of the next request. Values other than strings need objectAttachments. */
    void attach(String key, Object value);

    /** Sets an attachment of the answer, from inside a service. */
    void answer(String key, Object value);

    boolean requestObjectAttachments();

    boolean answerObjectAttachments();

    /** The future of the asynchronous call just made on this thread. */
    Future<?> future();

    /** Whether a method may return a CompletableFuture. */
    boolean futures();

    /** Calls $echo on a stub. */
    Object echo(Object stub, Object value);

    /** A bean as a JavaBeanDescriptor. */
    Object describe(Object bean);

    /** Calls without the interface. */
    interface Generic {
        Object invoke(String method, List<String> types, Object... arguments);

        CompletableFuture<Object> invokeAsync(String method, List<String> types, Object... arguments);
    }
}
