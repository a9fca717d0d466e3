package hostile;

public class Endless implements java.io.Serializable {
    public String text;

    public String getText() {
        for (;;) {
            Thread.yield();
        }
    }

    @Override
    public int hashCode() {
        getText();
        return 0;
    }
}
