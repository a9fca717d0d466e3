package org.dubbowire.rig.apache;

import java.util.Collection;
import java.util.LinkedList;
import java.util.List;
import org.apache.dubbo.common.serialize.support.SerializationOptimizer;

/** Another application's: the same numbers stand for other classes than those of {@link Optimizer}. */
public final class UsersOptimizer implements SerializationOptimizer {
    @Override
    public Collection<Class<?>> getSerializableClasses() {
        List<Class<?>> classes = new LinkedList<>();
        classes.add(org.apache.dubbo.benchmark.bean.Page.class);
        classes.add(org.apache.dubbo.benchmark.bean.User.class);
        classes.add(com.github.smartbuf.dubbo.model.UserModel.class);
        classes.add(com.github.smartbuf.dubbo.model.TopicModel.class);
        classes.add(com.github.smartbuf.dubbo.model.PostModel.class);
        classes.add(com.github.smartbuf.dubbo.model.PostModel.Visibility.class);
        classes.add(com.github.smartbuf.dubbo.model.PostModel.ContentType.class);
        return classes;
    }
}
