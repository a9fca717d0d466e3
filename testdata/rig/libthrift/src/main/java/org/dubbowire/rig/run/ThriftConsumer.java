package org.dubbowire.rig.run;

import java.util.ArrayList;
import java.util.List;
import org.apache.thrift.transport.TSocket;
import org.apache.thrift.transport.TTransport;
import org.dubbowire.rig.thrift.Catalog;
import org.dubbowire.rig.thrift.Logged;

/** A client of Thrift without Dubbo: two connections to each port, all calls of one after another. */
public final class ThriftConsumer {
    private ThriftConsumer() {
    }

    public static void main(String[] args) throws Exception {
        List<TTransport> open = new ArrayList<>();
        for (ThriftForms form : ThriftForms.all()) {
            CatalogCalls.run(Logged.of(client(form, open), "thrift", form.address()));
            Catalog.Client second = client(form, open);
            Step.fails("unknown method", second::nowhere);
            Step.run("after unknown method", () -> Logged.of(second, "thrift", form.address()).plain(1));
        }
        System.out.println("DONE " + Step.summary());
        while (System.in.read() >= 0) {
            // the server leaves first
        }
        open.forEach(TTransport::close);
        System.exit(0);
    }

    private static Catalog.Client client(ThriftForms form, List<TTransport> open) throws Exception {
        TTransport transport = form.transport(new TSocket(Settings.HOST, form.port(), 20000));
        transport.open();
        open.add(transport);
        return new Catalog.Client(form.protocol().getProtocol(transport));
    }
}
