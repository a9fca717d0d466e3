package hostile;

/** Starts a process that holds on to what it inherits, and a thread that never ends. */
public class Starts implements java.io.Serializable {
    @Override
    public int hashCode() {
        try {
            new ProcessBuilder("sleep", "600").inheritIO().start();
        } catch (java.io.IOException e) {
            return 0;
        }
        new Thread(() -> {
            for (;;) {
                Thread.yield();
            }
        }).start();
        return 0;
    }
}
