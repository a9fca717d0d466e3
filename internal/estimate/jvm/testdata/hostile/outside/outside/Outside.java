package outside;

/** A class of the class path that is not in the user's jars. */
public class Outside implements java.io.Serializable {
    static {
        new java.io.File(System.getenv("TMPDIR"), "sprung outside").mkdir();
    }

    public String text;
}
