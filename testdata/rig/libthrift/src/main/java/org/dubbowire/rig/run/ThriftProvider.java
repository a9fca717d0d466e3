package org.dubbowire.rig.run;

import java.net.InetSocketAddress;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.TTransportFactory;
import org.dubbowire.rig.thrift.Catalog;
import org.dubbowire.rig.thrift.Logged;

/** A server of Thrift without Dubbo. */
public final class ThriftProvider {
    private ThriftProvider() {
    }

    public static void main(String[] args) throws Exception {
        for (ThriftForms form : ThriftForms.all()) {
            TServerSocket socket = new TServerSocket(new InetSocketAddress(Settings.HOST, form.port()));
            TThreadPoolServer.Args settings = new TThreadPoolServer.Args(socket);
            settings.processor(new Catalog.Processor(Logged.of(new CatalogImpl(), "thrift", form.address())));
            settings.protocolFactory(form.protocol());
            settings.transportFactory(new TTransportFactory() {
                @Override
                public TTransport getTransport(TTransport below) {
                    return form.transport(below);
                }
            });
            new Thread(new TThreadPoolServer(settings)::serve).start();
        }
        System.out.println("READY libthrift");
        Thread.currentThread().join();
    }
}
