package org.dubbowire.rig.edge;

import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** A result that cannot be written: whoever walks over its entries gets an exception. */
public class Unwritable extends HashMap<String, String> {
    private static final long serialVersionUID = 1L;

    public Unwritable() {
        put("key", "value");
    }

    @Override
    public Set<Map.Entry<String, String>> entrySet() {
        throw new IllegalStateException("entries of Unwritable");
    }

    private void writeObject(ObjectOutputStream out) throws NotSerializableException {
        throw new NotSerializableException(Unwritable.class.getName());
    }

    /** Dubbo prints the result it could not write. */
    @Override
    public String toString() {
        return "Unwritable";
    }
}
