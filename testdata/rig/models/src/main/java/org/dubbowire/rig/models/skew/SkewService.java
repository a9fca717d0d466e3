package org.dubbowire.rig.models.skew;

import java.util.List;

/** Classes that change from one version to the next. */
public interface SkewService {
    FieldAdded added(FieldAdded v);

    FieldAddedLast addedLast(FieldAddedLast v, int n);

    FieldRemoved removed(FieldRemoved v);

    FieldRenamed renamed(FieldRenamed v);

    FieldRetyped retyped(FieldRetyped v);

    FieldMoved moved(FieldMoved v);

    ConstantAdded constants(ConstantAdded v, State state);

    MadeFinal madeFinal(MadeFinal v);

    Skewed all(Skewed v);

    List<FieldAdded> list(List<FieldRemoved> v);
}
