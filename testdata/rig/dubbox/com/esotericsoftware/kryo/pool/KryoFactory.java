package com.esotericsoftware.kryo.pool;

import com.esotericsoftware.kryo.Kryo;

/** What Dubbo 2.6.0 takes from Kryo 4 and Kryo 2.24 does not have. */
public interface KryoFactory {
    Kryo create();
}
