package org.dubbowire.rig.truth;

import java.util.ArrayList;
import java.util.List;

/** Turns JVM descriptors without brackets into Java source names: {@code [ILjava/lang/String;} to int[], java.lang.String. */
final class Descriptors {
    private Descriptors() {
    }

    static List<String> javaNames(String descriptors) {
        List<String> names = new ArrayList<>();
        int at = 0;
        while (descriptors != null && at < descriptors.length()) {
            int dimensions = 0;
            while (descriptors.charAt(at) == '[') {
                dimensions++;
                at++;
            }
            String name;
            if (descriptors.charAt(at) == 'L') {
                int end = descriptors.indexOf(';', at);
                name = descriptors.substring(at + 1, end).replace('/', '.');
                at = end + 1;
            } else {
                name = primitive(descriptors.charAt(at++));
            }
            names.add(name + "[]".repeat(dimensions));
        }
        return names;
    }

    private static String primitive(char c) {
        return switch (c) {
            case 'Z' -> "boolean";
            case 'B' -> "byte";
            case 'C' -> "char";
            case 'S' -> "short";
            case 'I' -> "int";
            case 'J' -> "long";
            case 'F' -> "float";
            case 'D' -> "double";
            case 'V' -> "void";
            default -> throw new IllegalArgumentException("descriptor " + c);
        };
    }
}
