package dubbowire;

/** A value as it was on the wire, and the object that was built from it. */
final class Node {
    static final int NULL = 1, BOOL = 2, INT = 3, FLOAT32 = 4, FLOAT64 = 5, CHAR = 6, STRING = 7, BYTES = 8, DATE = 9, DECIMAL = 10, ENUM = 11,
        LIST = 12, MAP = 13, OBJECT = 14, REF = 15, UNWRITTEN = 16;
    static final int BY_FIELD = 1;
    static final Node[] NONE = {};

    int kind;
    int label;
    String name; // of a field, else null
    String type; // its class in source form, null if unknown
    long number; // Bool, Int, milliseconds of a Date, ordinal of an Enum
    double real;
    String text;
    byte[] bytes;
    Node[] inner = NONE;
    Node target; // of a reference

    Object value;
    boolean built;

    /** Forgets the objects that were built. */
    void forget() {
        value = null;
        built = false;
        for (Node n : inner) {
            n.forget();
        }
    }

    boolean isField() {
        return label == BY_FIELD;
    }

    boolean isScalar() {
        return kind != LIST && kind != MAP && kind != OBJECT && kind != REF && kind != UNWRITTEN;
    }

    /** The field, or the value of the key, with the first of the names that is there; null without one. References are followed. */
    Node get(String... names) {
        for (String wanted : names) {
            for (int i = 0; i < inner.length; i++) {
                Node n = inner[i];
                if (kind == MAP && !n.isField()) {
                    i++;
                    if (i < inner.length && n.kind == STRING && wanted.equals(n.text)) {
                        return inner[i].followed();
                    }
                } else if (wanted.equals(n.name)) {
                    return n.followed();
                }
            }
        }
        return null;
    }

    Node followed() {
        Node n = this;
        for (int i = 0; i < 10 && n.kind == REF; i++) {
            n = n.target;
        }
        return n;
    }

    static Node text(String name, String text) {
        Node n = new Node();
        n.kind = STRING;
        n.label = BY_FIELD;
        n.name = name;
        n.text = text;
        return n;
    }

    String what() {
        switch (kind) {
            case NULL: return "null";
            case BOOL: return "a boolean";
            case INT: return "an integer";
            case FLOAT32: case FLOAT64: return "a fraction";
            case CHAR: case STRING: return "a text";
            case BYTES: return "bytes";
            case DATE: return "a date";
            case DECIMAL: return "a decimal";
            case ENUM: return "an enum constant";
            case LIST: return "a list";
            case MAP: return "a map";
            default: return type == null ? "an object" : type;
        }
    }
}
