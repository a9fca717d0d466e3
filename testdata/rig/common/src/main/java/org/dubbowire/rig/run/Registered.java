package org.dubbowire.rig.run;

import java.util.List;

/** What an application's optimizer registers: names become numbers on the wire, in the order of this list. */
public final class Registered {
    public static final List<Class<?>> CLASSES = List.of(
        com.alibaba.dubbo.rpc.benchmark.BidRequest.class,
        com.alibaba.dubbo.rpc.benchmark.Impression.class,
        com.alibaba.dubbo.rpc.benchmark.Geo.class,
        com.alibaba.dubbo.rpc.benchmark.Device.class,
        org.apache.dubbo.benchmark.bean.User.class,
        org.apache.dubbo.benchmark.bean.Page.class,
        com.github.smartbuf.dubbo.model.PostModel.class,
        com.github.smartbuf.dubbo.model.TopicModel.class,
        com.github.smartbuf.dubbo.model.UserModel.class,
        com.github.smartbuf.dubbo.model.PostModel.ContentType.class,
        com.github.smartbuf.dubbo.model.PostModel.Visibility.class,
        org.dubbowire.rig.edge.Node.class,
        org.dubbowire.rig.edge.Derived.class,
        org.dubbowire.rig.edge.Color.class);

    private Registered() {
    }
}
