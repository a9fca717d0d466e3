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
        if (Peer.CURRENT != null) {
            Peer.CURRENT.newContext(); // attachments of a failed call would travel with the next one
        }
        try {
            call.run();
            done++;
        } catch (Throwable t) {
            failed++;
            Throwable cause = t;
            while (cause.getCause() != null && cause.getCause() != cause) {
                cause = cause.getCause();
            }
            System.out.println("FAILED " + name + " | " + firstLine(cause));
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

    static String firstLine(Throwable t) {
        String line = t.toString().lines().findFirst().orElse("");
        line = line.replaceFirst("^.*Failed to send response: .*?, cause: ", "provider cannot write the result: ");
        line = line.replaceAll("( by scan timer)?\\. start time: .*", ""); // of a timeout
        line = line.replaceAll("@[0-9a-f]{6,8}\\b", "@…").replaceAll(", provider: dubbo://.*?, ", ", "); // what changes from run to run
        return line.length() > 240 ? line.substring(0, 240) + "…" : line;
    }
}
