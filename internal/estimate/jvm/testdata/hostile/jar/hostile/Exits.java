package hostile;

/** Serializers call its methods. */
public class Exits implements java.io.Serializable {
    public String text;

    public String getText() {
        System.exit(0);
        return text;
    }

    @Override
    public int hashCode() {
        Runtime.getRuntime().halt(0);
        return 0;
    }
}
