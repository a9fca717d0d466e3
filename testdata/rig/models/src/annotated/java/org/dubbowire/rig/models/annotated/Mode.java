package org.dubbowire.rig.models.annotated;

import com.esotericsoftware.kryo.DefaultSerializer;
import com.esotericsoftware.kryo.serializers.EnumNameSerializer;

@DefaultSerializer(EnumNameSerializer.class)
public enum Mode {
    FAST,
    SLOW {
        @Override
        public String toString() {
            return "slow";
        }
    },
    OFF
}
