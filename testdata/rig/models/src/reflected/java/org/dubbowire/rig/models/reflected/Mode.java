package org.dubbowire.rig.models.reflected;

public enum Mode {
    OFF, ON {
        @Override
        public boolean works() {
            return true;
        }
    }, LATER;

    public boolean works() {
        return false;
    }
}
