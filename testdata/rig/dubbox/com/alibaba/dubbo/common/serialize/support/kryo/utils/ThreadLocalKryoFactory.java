package com.alibaba.dubbo.common.serialize.support.kryo.utils;

import com.esotericsoftware.kryo.Kryo;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * In Dubbox all threads share the instances of Kryo, and one that fails to write a body is not used again. Dubbo 2.6.0 has an instance for each thread, of
 * a class with this name. What an instance wrote before decides how Kryo 2.24 writes generic classes.
 */
public class ThreadLocalKryoFactory extends AbstractKryoFactory {
    private final Queue<Kryo> pool = new ConcurrentLinkedQueue<>();

    @Override
    public Kryo getKryo() {
        Kryo kryo = pool.poll();
        return kryo == null ? create() : kryo;
    }

    @Override
    public void returnKryo(Kryo kryo) {
        pool.offer(kryo);
    }
}
