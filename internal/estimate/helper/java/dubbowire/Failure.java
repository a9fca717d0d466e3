package dubbowire;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.concurrent.ExecutionException;

/** Why a value cannot be built or a body not be written: one line for the user. */
final class Failure extends Exception {
    private static final long serialVersionUID = 1L;
    private static final int LONGEST = 300; // characters of a cause
    private String place = "";

    Failure(String why) {
        super(why, null, false, false);
    }

    /** Names the field in which it happened, unless a field further inside has been named. */
    Failure in(String field) {
        if (place.isEmpty()) {
            place = " in " + field;
        }
        return this;
    }

    /** Only the place: the text says it already. */
    Failure placed() {
        place = " ";
        return this;
    }

    @Override
    public String getMessage() {
        return (super.getMessage() + place).trim();
    }

    /** One line of at most 300 characters. The methods of an exception may be the user's, and fail themselves. */
    static String line(Throwable thrown) {
        try {
            return told(thrown);
        } catch (Throwable e) {
            return cut(thrown.getClass().getName());
        }
    }

    private static String told(Throwable thrown) {
        Throwable outer = thrown;
        while (outer.getCause() != null && (outer instanceof InvocationTargetException || outer instanceof ExecutionException
            || outer instanceof UndeclaredThrowableException || outer instanceof ExceptionInInitializerError)) {
            outer = outer.getCause();
        }
        Throwable root = outer;
        for (int i = 0; i < 20 && root.getCause() != null && root.getCause() != root; i++) {
            root = root.getCause();
        }
        String text;
        if (root instanceof Failure) {
            text = root.getMessage();
        } else if (root instanceof StackOverflowError) {
            text = "nested too deep, or a cycle, which this serialization does not write";
        } else if (root instanceof OutOfMemoryError) {
            text = "out of memory";
        } else {
            text = named(root);
            String trace = String.valueOf(outer.getMessage());
            int at = trace.indexOf("Serialization trace:"); // Kryo: the fields from inside to outside
            if (at >= 0) {
                text = firstLine(text) + ", in " + firstLine(trace.substring(at + 20).trim());
            }
        }
        return cut(text);
    }

    private static String named(Throwable t) {
        String message = t.getMessage();
        String name = t.getClass().getSimpleName();
        return message == null || message.trim().isEmpty() ? name : name + ": " + sentence(message.trim());
    }

    /** The beginning of a message, without what follows for those who debug the class: a place in the bytes of a class, in a text or in the source. */
    private static String sentence(String message) {
        String text = message;
        for (String detail : new String[] {"\nException Details:", "\n at [Source:", "\n\tat ", "\nClass loader hierarchy:"}) {
            int at = text.indexOf(detail);
            text = at > 0 ? text.substring(0, at).trim() : text;
        }
        return text;
    }

    private static String firstLine(String text) {
        int end = text.indexOf('\n');
        return end < 0 ? text : text.substring(0, end).trim();
    }

    static String cut(String text) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < text.length() && line.length() < LONGEST; i++) {
            char c = text.charAt(i);
            line.append(c < ' ' || c == 0x7f || Character.isSurrogate(c) || c == '\u2028' || c == '\u2029' ? ' ' : c);
        }
        return line.toString().trim();
    }
}
