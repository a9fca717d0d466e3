package org.dubbowire.rig.run;

import java.util.Collection;
import java.util.List;
import org.apache.dubbo.common.serialize.support.SerializationOptimizer;

/** Registers the application's classes: names become numbers on the wire, in the order of this list. */
public final class Optimizer implements SerializationOptimizer {
    @Override
    public Collection<Class<?>> getSerializableClasses() {
        return List.of(
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
    }
}
