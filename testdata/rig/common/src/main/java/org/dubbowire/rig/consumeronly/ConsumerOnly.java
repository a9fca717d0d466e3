package org.dubbowire.rig.consumeronly;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** This package is not on the provider's class path: it receives a class it does not know. */
@Getter
@Setter
public class ConsumerOnly implements Serializable {
    private static final long serialVersionUID = 1L;
    private String name = "unknown to the provider";
    private int count = 3;
}
