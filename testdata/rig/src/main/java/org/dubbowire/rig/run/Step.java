package org.dubbowire.rig.run;

/** Runs one call; a failure is reported and the workload goes on. */
final class Step {
    private static int done;
    private static int failed;

    private Step() {
    }

    interface Call {
        void run() throws Exception;
    }

    static void run(String name, Call call) {
        try {
            call.run();
            done++;
        } catch (Throwable t) {
            failed++;
            Throwable cause = t;
            while (cause.getCause() != null && cause.getCause() != cause) {
                cause = cause.getCause();
            }
            System.out.println("FAILED " + name + " | " + firstLine(t) + (cause == t ? "" : " | " + firstLine(cause)));
        }
    }

    /** A call that must fail: the exception is the point. */
    static void fails(String name, Call call) {
        try {
            call.run();
            System.out.println("NOT FAILED " + name);
        } catch (Throwable t) {
            done++;
        }
    }

    static String summary() {
        return done + " steps, " + failed + " failed";
    }

    private static String firstLine(Throwable t) {
        String line = t.toString().lines().findFirst().orElse("");
        return line.length() > 300 ? line.substring(0, 300) : line;
    }
}
