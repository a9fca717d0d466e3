package hostile;

import java.io.File;
import java.io.FileOutputStream;

/** Leaves a file, so that a test sees which code has run. */
public final class Trap {
    public static void sprung(String what) {
        try (FileOutputStream f = new FileOutputStream(new File(System.getenv("TMPDIR"), "sprung " + what))) {
            f.write(1);
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
