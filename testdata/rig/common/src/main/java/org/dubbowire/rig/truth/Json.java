package org.dubbowire.rig.truth;

import java.util.List;

/** A minimal JSON writer: the truth must not depend on a library's defaults. */
final class Json {
    private final StringBuilder out = new StringBuilder();

    Json beginObject() {
        comma();
        out.append('{');
        return this;
    }

    Json endObject() {
        out.append('}');
        return this;
    }

    Json beginArray() {
        comma();
        out.append('[');
        return this;
    }

    Json endArray() {
        out.append(']');
        return this;
    }

    Json name(String name) {
        comma();
        quote(name);
        out.append(':');
        return this;
    }

    /** A field whose value is a string, a number, a boolean, null, or a list of strings. */
    Json field(String name, Object value) {
        name(name);
        if (value instanceof List<?> list) {
            beginArray();
            list.forEach(this::scalar);
            return endArray();
        }
        return scalar(value);
    }

    Json scalar(Object value) {
        comma();
        if (value == null || value instanceof Boolean || value instanceof Number) {
            out.append(value);
        } else {
            quote(value.toString());
        }
        return this;
    }

    private void comma() {
        if (out.length() > 0 && ",:{[".indexOf(out.charAt(out.length() - 1)) < 0) {
            out.append(',');
        }
    }

    private void quote(String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < s.length() && Character.isLowSurrogate(s.charAt(i + 1))) {
                out.append(c).append(s.charAt(++i));
            } else if (Character.isSurrogate(c)) {
                out.append('\ufffd'); // a lone surrogate has no UTF-8 form
            } else if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029) {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        out.append('"');
    }

    @Override
    public String toString() {
        return out.toString();
    }
}
