package org.dubbowire.rig.edge;

/** Hides the field name of Base. No accessors: they would override those of Base. */
public class Shadow extends Base {
    private static final long serialVersionUID = 1L;
    private String name;

    public Shadow() {
    }

    public Shadow(String own, String inherited) {
        this.name = own;
        setName(inherited);
    }

    public String own() {
        return name;
    }
}
