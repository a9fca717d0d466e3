package org.apache.dubbo.common.serialize.support;

import java.util.Collection;

/** As Dubbo's interface is declared. */
public interface SerializationOptimizer {
    Collection<Class<?>> getSerializableClasses();
}
