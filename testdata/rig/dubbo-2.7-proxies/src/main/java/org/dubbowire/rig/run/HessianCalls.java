package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.EchoService;
import com.caucho.hessian.client.HessianProxyFactory;
import java.util.ArrayList;
import java.util.List;
import org.dubbowire.rig.edge.EdgeService;
import org.dubbowire.rig.edge.Node;

/** What the protocol of Hessian adds: overloads told by types, another client of HTTP, attachments in headers. */
public final class HessianCalls implements Extra {
    @Override
    public String name() {
        return "hessian";
    }

    @Override
    public void export() {
        // the provider's services are enough
    }

    @Override
    public void run() {
        EdgeService overloaded = Remote.of(EdgeService.class).parameter("hessian.overload.method", "true").get();
        Step.run("overload int", () -> overloaded.over(1));
        Step.run("overload long", () -> overloaded.over(1L));
        Step.run("overload string", () -> overloaded.over("1"));
        Step.run("overload list", () -> overloaded.over(new ArrayList<>(List.of("1", "2"))));
        Step.run("overload bean", () -> overloaded.echoNode(new Node(1, "overloaded")));
        Step.run("overload none", overloaded::zero);
        EdgeService apache = Remote.of(EdgeService.class).parameter("client", "httpclient").get();
        Step.run("httpclient", () -> apache.echoString("by Apache's client"));
        Step.run("httpclient null", () -> apache.echoString(null));
        Step.run("httpclient large", () -> apache.echoBytes(Samples.bytes(20_000)));
        Step.fails("httpclient checked", () -> apache.fail("checked"));
        Step.run("httpclient attachments", () -> {
            Peer.CURRENT.attach("trace.id", "0af7651916cd43dd");
            apache.attachments("by httpclient");
        });
        EchoService echo = Remote.of(EchoService.class).parameter("client", "httpclient").get();
        for (int i = 0; i < 5; i++) {
            Step.run("httpclient bid", () -> echo.bid(Data.bid()));
        }
        Step.run("Hessian 1 both ways", HessianCalls::older);
    }

    /** Dubbo asks for answers in Hessian 2 whatever it sends; a client of Hessian alone can ask for the older form. */
    private static void older() throws Exception {
        HessianProxyFactory factory = new HessianProxyFactory();
        factory.setHessian2Request(false);
        factory.setHessian2Reply(false);
        factory.setOverloadEnabled(false);
        String server = "http://" + Settings.urlHost() + ":" + Settings.PORT + "/";
        EchoService echo = (EchoService) factory.create(EchoService.class, server + EchoService.class.getName());
        Step.run("older bid", () -> echo.bid(Data.fullBid()));
        EdgeService edge = (EdgeService) factory.create(EdgeService.class, server + EdgeService.class.getName());
        Step.run("older null", edge::nothing);
        Step.run("older void", edge::ping);
        Step.run("older long", () -> edge.echoLong(1L << 40));
        Step.run("older texts", () -> edge.echoTexts(Samples.texts()));
        Step.run("older string", () -> edge.echoString(Samples.repeat("中文字符串", 40_000)));
        Step.run("older bytes", () -> edge.echoBytes(Samples.bytes(40_000)));
        Step.run("older primitives", () -> edge.echoPrimitives(Samples.primitives()));
        Step.run("older dates", () -> edge.echoDates(Samples.dates()));
        Step.run("older lists", () -> edge.echoLists(Samples.lists()));
        Step.run("older maps", () -> edge.echoMaps(Samples.maps()));
        Step.run("older cycle", () -> edge.echoNode(Samples.family()));
        Step.fails("older checked", () -> edge.fail("checked"));
        Step.fails("older runtime", () -> edge.fail("runtime"));
        Step.run("after older", edge::zero);
    }
}
