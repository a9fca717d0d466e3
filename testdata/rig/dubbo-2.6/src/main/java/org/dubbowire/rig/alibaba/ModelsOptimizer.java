package org.dubbowire.rig.alibaba;

import com.alibaba.dubbo.common.serialize.support.SerializationOptimizer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;

import org.dubbowire.rig.models.Box;
import org.dubbowire.rig.models.Circle;
import org.dubbowire.rig.models.Color;
import org.dubbowire.rig.models.Containers;
import org.dubbowire.rig.models.External;
import org.dubbowire.rig.models.Holder;
import org.dubbowire.rig.models.Leaf;
import org.dubbowire.rig.models.Money;
import org.dubbowire.rig.models.Names;
import org.dubbowire.rig.models.Node;
import org.dubbowire.rig.models.Op;
import org.dubbowire.rig.models.Pair;
import org.dubbowire.rig.models.Refused;
import org.dubbowire.rig.models.Scalars;
import org.dubbowire.rig.models.Square;
import org.dubbowire.rig.models.Written;

/** Registers some of the models. */
public final class ModelsOptimizer implements SerializationOptimizer {
    @Override
    @SuppressWarnings("rawtypes") // as the interface declares it
    public Collection<Class> getSerializableClasses() {
        List<Class> classes = new ArrayList<>();
        classes.add(Scalars.class);
        classes.add(Color.class);
        classes.add(Op.class);
        classes.add(Square.class);
        classes.add(Circle.class);
        classes.add(Node.class);
        classes.add(Box.class);
        classes.add(Pair.class);
        classes.add(Leaf.class);
        classes.add(Holder.class);
        classes.add(Money.class);
        classes.add(Containers.class);
        classes.add(LinkedHashMap.class);
        classes.add(Names.class);
        classes.add(Square[].class);
        classes.add(External.class);
        classes.add(Written.class);
        classes.add(Refused.class);
        return classes;
    }
}
