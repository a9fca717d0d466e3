package hostile;

/** Acts when it is initialized, constructed, read, hashed, compared, printed. */
public class Initialized implements java.io.Serializable {
    static {
        Trap.sprung("initializer");
    }
}
