package org.dubbowire.rig.alibaba;

import java.util.ArrayList;
import java.util.Collection;
import com.alibaba.dubbo.common.serialize.support.SerializationOptimizer;
import org.dubbowire.rig.run.Registered;

/** Registers the application's classes with the serializations that can use numbers for names. */
public final class Optimizer implements SerializationOptimizer {
    @Override
    @SuppressWarnings("rawtypes") // as the interface declares it
    public Collection<Class> getSerializableClasses() {
        return new ArrayList<>(Registered.CLASSES);
    }
}
