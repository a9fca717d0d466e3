package org.dubbowire.rig.run;

import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TCompactProtocol;
import org.apache.thrift.protocol.TProtocolFactory;
import org.apache.thrift.transport.TFramedTransport;
import org.apache.thrift.transport.TTransport;

/** How the bytes are: names with dashes, such as binary-framed, of which the property rig.thrift has one for each port, separated by commas. */
record ThriftForms(String name, int port) {
    static ThriftForms[] all() {
        String[] names = System.getProperty("rig.thrift", "binary").split(",");
        ThriftForms[] all = new ThriftForms[names.length];
        for (int i = 0; i < names.length; i++) {
            all[i] = new ThriftForms(names[i], Settings.PORT + i);
        }
        return all;
    }

    TProtocolFactory protocol() {
        if (name.contains("compact")) {
            return new TCompactProtocol.Factory();
        }
        return new TBinaryProtocol.Factory(false, !name.contains("loose")); // without the version in messages
    }

    TTransport transport(TTransport below) {
        return name.contains("framed") ? new TFramedTransport(below) : below;
    }

    String address() {
        return Settings.urlHost() + ":" + port;
    }
}
