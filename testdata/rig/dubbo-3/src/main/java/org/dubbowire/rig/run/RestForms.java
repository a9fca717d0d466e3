package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import com.alibaba.dubbo.rpc.benchmark.EchoService;
import com.alibaba.fastjson2.JSON;
import java.io.StringReader;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import javax.xml.bind.JAXBContext;
import javax.xml.bind.JAXBException;

/**
 * The published workloads in the forms that REST of Dubbo 3 has: JSON, XML, form fields, text; and JSON to the path of interface and method.
 * Under load, rig.form is json or xml.
 */
public final class RestForms implements Extra {
    private static final class Implementation implements RestBids {
        @Override
        public BidRequest json(BidRequest request) {
            return request;
        }

        @Override
        public BidRequest xml(BidRequest request) {
            return request;
        }

        @Override
        public BidRequest form(String make, String os, String city, double bidFloor) {
            BidRequest request = Data.bid();
            request.getDevice().setMake(make);
            request.getDevice().setOs(os);
            request.getDevice().getGeo().setCity(city);
            request.getImpressions().get(0).setBidFloor(bidFloor);
            return request;
        }

        @Override
        public String text(String text) {
            return text;
        }
    }

    @Override
    public String name() {
        return "rest-forms";
    }

    @Override
    public void export() {
        Peer.CURRENT.export(RestBids.class, new Implementation(), null, null);
    }

    @Override
    public void run() throws Exception {
        Web web = Http2Web.any();
        byte[] json = utf8(JSON.toJSONString(Data.bid()));
        byte[] full = utf8(JSON.toJSONString(Data.fullBid()));
        byte[] list = utf8(JSON.toJSONString(new Object[] {Data.bid()}));
        byte[] xml = utf8(xml(bids(), Data.bid()));
        for (int i = 0; i < 20 * Settings.REPEAT; i++) {
            Step.run("bid", () -> post(web, "/bids/json", json, "application/json", "application/json"));
            Step.run("bid XML", () -> post(web, "/bids/xml", xml, "text/xml", "text/xml"));
            if (!Settings.PROTOCOL.equals("rest")) { // which mixes up the fields of a form, and has no other paths
                Step.run("bid form", () -> post(web, "/bids/form", utf8("make=apple&os=ios&city=beijing&bidFloor=1.1"), "application/x-www-form-urlencoded", "application/json"));
                Step.run("bid by interface", () -> post(web, "/" + EchoService.class.getName() + "/bid", list, "application/json", "application/json"));
            }
        }
        for (int i = 0; i < 5; i++) {
            Step.run("bid full", () -> post(web, "/bids/json", full, "application/json", "application/json"));
        }
        byte[] text = utf8(Data.text50k());
        for (int i = 0; i < 2; i++) {
            Step.run("text", () -> post(web, "/bids/text", text, "text/plain", "text/plain"));
        }
    }

    private static void post(Web web, String path, byte[] body, String type, String accepted) throws Exception {
        Web.Answer answer = web.call("POST", path, body, "Content-Type", type, "Accept", accepted);
        if (answer.status() != 200) {
            throw new IllegalStateException(answer.status() + " " + answer.body());
        }
    }

    /** A client that writes the object for each call and reads it from the answer, as a consumer of Dubbo would; it logs nothing. */
    @Override
    public LongConsumer load(String method) {
        String form = System.getProperty("rig.form", "json");
        BidRequest bid = Data.bid();
        byte[] text = utf8(Data.text50k());
        Supplier<Web> web = Http2Web.ofThreads();
        JAXBContext bids = bids();
        Step.Call call = switch (method + " " + form) {
            case "bid json" -> () -> JSON.parseObject(answer(web.get(), "/bids/json", utf8(JSON.toJSONString(bid)), "application/json"), BidRequest.class);
            case "bid xml" -> () -> bid(bids, answer(web.get(), "/bids/xml", utf8(xml(bids, bid)), "text/xml"));
            case "text json" -> () -> answer(web.get(), "/bids/text", text, "text/plain");
            default -> throw new IllegalArgumentException("no load of " + method + " in " + form);
        };
        return n -> {
            try {
                call.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        };
    }

    private static String answer(Web web, String path, byte[] body, String type) throws Exception {
        Web.Answer answer = web.send("POST", path, body, "Content-Type", type, "Accept", type);
        if (answer.status() != 200) {
            throw new IllegalStateException(answer.status() + " " + answer.body());
        }
        return answer.body();
    }

    private static String xml(JAXBContext bids, BidRequest request) throws JAXBException {
        StringWriter xml = new StringWriter();
        bids.createMarshaller().marshal(request, xml);
        return xml.toString();
    }

    private static BidRequest bid(JAXBContext bids, String xml) throws JAXBException {
        return (BidRequest) bids.createUnmarshaller().unmarshal(new StringReader(xml));
    }

    private static JAXBContext bids() {
        try {
            return JAXBContext.newInstance(BidRequest.class);
        } catch (JAXBException e) {
            throw new IllegalStateException(e);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
