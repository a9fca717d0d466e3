package org.dubbowire.rig.edge;

/** A result that no serialization accepts: not Serializable, a getter that throws, a field of a class loader type. */
public class Unwritable {
    private String name = "unwritable";
    private Class<?> type = Unwritable.class;
    private Thread thread = Thread.currentThread();

    public String getName() {
        return name;
    }

    public String getBroken() {
        throw new IllegalStateException("getter of Unwritable");
    }

    public Thread getThread() {
        return thread;
    }

    public Class<?> getType() {
        return type;
    }
}
