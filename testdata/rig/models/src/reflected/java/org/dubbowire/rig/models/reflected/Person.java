package org.dubbowire.rig.models.reflected;

import java.io.Serializable;
import java.util.List;
import org.apache.avro.reflect.Nullable;

/** A recursive class, with values that may be null. */
public class Person implements Serializable {
    private String name;
    @Nullable
    private String nick;
    private int age;
    @Nullable
    private Person partner;
    private List<Person> children;
    @Nullable
    private Integer score;
    @Nullable
    private List<String> notes;
    @Nullable
    private Mode mode;
    private Address address;
}
