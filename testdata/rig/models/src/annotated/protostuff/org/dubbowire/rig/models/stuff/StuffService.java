package org.dubbowire.rig.models.stuff;

import java.util.List;
import java.util.Map;
import org.dubbowire.rig.models.Box;

/** Classes with protostuff's annotations, and with fields of all kinds that it writes in different ways. */
public interface StuffService {
    Numbered numbered(Numbered v, Mode mode);

    Later later(Later v, Outdated outdated);

    Morphs morphs(Morphs v);

    Parts parts(Parts v);

    Parts more(Parts v);

    List<Numbered> list(List<Mode> modes);

    Map<String, Outdated> map(Map<Mode, Numbered> v);

    Numbered[] array(Mode[] modes, Morphs[] morphs);

    Box<Mode> box(Box<Numbered> v);

    Object any(Object v);
}
