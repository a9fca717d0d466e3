package hostile;

/** Starts more threads than it may while it is a key. */
public class Threads {
    public int hashCode() {
        for (int i = 0; i < 5000; i++) {
            Thread t = new Thread(() -> {
                try {
                    Thread.sleep(60_000);
                } catch (InterruptedException e) {
                    return;
                }
            });
            t.start();
        }
        return 1;
    }
}
