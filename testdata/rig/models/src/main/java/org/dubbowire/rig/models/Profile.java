package org.dubbowire.rig.models;

import java.io.Serializable;
import java.util.List;

/** What Lombok makes of Value and Builder. */
public final class Profile implements Serializable {
    private final String name;
    private final int age;
    private final List<String> roles;
    private final Level level;

    private Profile(Builder b) {
        name = b.name;
        age = b.age;
        roles = b.roles;
        level = b.level;
    }

    public static Builder builder() {
        return new Builder();
    }

    public static final class Builder {
        private String name;
        private int age;
        private List<String> roles;
        private Level level;

        public Builder name(String v) {
            name = v;
            return this;
        }

        public Profile build() {
            return new Profile(this);
        }
    }
}
