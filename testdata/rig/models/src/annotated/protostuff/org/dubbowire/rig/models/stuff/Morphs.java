package org.dubbowire.rig.models.stuff;

import io.protostuff.Morph;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.dubbowire.rig.models.Circle;
import org.dubbowire.rig.models.Shape;

/** Fields that say whether objects of subclasses are written as such. */
public class Morphs implements Serializable {
    @Morph
    private Circle circle;
    @Morph(false)
    private Circle plain;
    @Morph
    private List<Circle> circles;
    @Morph(false)
    private Set<String> texts;
    @Morph
    private List<Mode> modes;
    @Morph
    private Map<String, Circle> byName;
    @Morph(false)
    private Map<Mode, Circle> perMode;
    @Morph
    private Shape shape;
    @Morph
    private List<int[]> arrays;
    private String last;
}
