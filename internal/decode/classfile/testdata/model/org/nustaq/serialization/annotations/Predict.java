package org.nustaq.serialization.annotations;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;

/** As FST's annotation is declared. */
@Retention(RetentionPolicy.RUNTIME)
public @interface Predict {
    Class<?>[] value();
}
