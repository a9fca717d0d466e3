package org.dubbowire.rig.thrift;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** The id of a field of a struct. */
@Retention(RetentionPolicy.RUNTIME)
@interface Id {
    int value();
}
