package org.dubbowire.rig.models.stuff;

import io.protostuff.Tag;

/** Some constants have numbers of their own. */
public enum Mode {
    @Tag(10)
    FAST,
    SAFE,
    @Tag(3)
    QUIET {
        @Override
        boolean loud() {
            return false;
        }
    },
    @Tag(value = 700, alias = "late")
    LAST;

    boolean loud() {
        return true;
    }
}
