package hostile;

import java.io.ObjectInputStream;

public class Constructed implements java.io.Serializable {
    public String text;

    public Constructed() {
        Trap.sprung("constructor");
    }

    private void readObject(ObjectInputStream in) {
        Trap.sprung("readObject");
    }

    private Object readResolve() {
        Trap.sprung("readResolve");
        return this;
    }

    public void setText(String text) {
        Trap.sprung("setter");
    }

    @Override
    public String toString() {
        Trap.sprung("toString");
        return "";
    }
}
