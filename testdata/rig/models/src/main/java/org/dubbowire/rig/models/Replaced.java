package org.dubbowire.rig.models;

import java.io.Serializable;

/** Another object stands for it. */
public class Replaced implements Serializable {
    private String text;
    private int number;

    private Object writeReplace() {
        Stand stand = new Stand();
        stand.joined = number + ":" + text;
        return stand;
    }

    static class Stand implements Serializable {
        private String joined;

        private Object readResolve() {
            Replaced r = new Replaced();
            int at = joined.indexOf(':');
            r.number = Integer.parseInt(joined.substring(0, at));
            r.text = joined.substring(at + 1);
            return r;
        }
    }
}
