package org.dubbowire.rig.edge;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** Strings that trouble encoders. */
@Getter
@Setter
public class Texts implements Serializable {
    private static final long serialVersionUID = 1L;
    private String empty;
    private String ascii;
    private String chinese;
    private String emoji;
    private String mixed;
    private String loneHigh;
    private String loneLow;
    private String controls;
    private String quotes;
    private String html;
}
