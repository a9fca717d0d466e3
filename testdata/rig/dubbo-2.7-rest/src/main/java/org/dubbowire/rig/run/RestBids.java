package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import java.util.function.LongConsumer;
import org.dubbowire.rig.rest.Bids;

/** The published workloads of the REST rows: the bid request, and the text of 50 KB. rig.form is json, xml, json-gzip or xml-gzip. */
public final class RestBids implements Extra {
    private static final String FORM = System.getProperty("rig.form", "json");

    private static class Echo implements Bids {
        @Override
        public BidRequest bid(BidRequest request) {
            return request;
        }

        @Override
        public String text(String text) {
            return text;
        }
    }

    // RESTEasy looks for annotations in the first interface that has some.

    private static final class Json extends Echo implements Bids.Json {
    }

    private static final class Xml extends Echo implements Bids.Xml {
    }

    private static final class JsonGzip extends Echo implements Bids.JsonGzip {
    }

    private static final class XmlGzip extends Echo implements Bids.XmlGzip {
    }

    @Override
    public String name() {
        return "rest-bids";
    }

    @Override
    public void export() {
        switch (FORM) {
            case "json" -> Peer.CURRENT.export(Bids.Json.class, new Json(), null, null);
            case "xml" -> Peer.CURRENT.export(Bids.Xml.class, new Xml(), null, null);
            case "json-gzip" -> Peer.CURRENT.export(Bids.JsonGzip.class, new JsonGzip(), null, null);
            case "xml-gzip" -> Peer.CURRENT.export(Bids.XmlGzip.class, new XmlGzip(), null, null);
            default -> throw new IllegalArgumentException(FORM);
        }
    }

    private static Class<? extends Bids> form() {
        return switch (FORM) {
            case "json" -> Bids.Json.class;
            case "xml" -> Bids.Xml.class;
            case "json-gzip" -> Bids.JsonGzip.class;
            case "xml-gzip" -> Bids.XmlGzip.class;
            default -> throw new IllegalArgumentException(FORM);
        };
    }

    @Override
    public void run() {
        Bids bids = Remote.of(form()).get();
        for (int i = 0; i < 20 * Settings.REPEAT; i++) {
            Step.run("bid", () -> bids.bid(Data.bid()));
        }
        for (int i = 0; i < 5; i++) {
            Step.run("bid full", () -> bids.bid(Data.fullBid()));
        }
        String text = Data.text50k();
        for (int i = 0; i < 2; i++) {
            Step.run("text", () -> bids.text(text));
        }
    }

    @Override
    public LongConsumer load(String method) {
        Bids bids = Remote.of(form()).get();
        BidRequest bid = Data.bid();
        String text = Data.text50k();
        return switch (method) {
            case "bid" -> n -> bids.bid(bid);
            case "text" -> n -> bids.text(text);
            default -> throw new IllegalArgumentException("no load of " + method);
        };
    }
}
