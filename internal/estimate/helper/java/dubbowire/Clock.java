package dubbowire;

import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** What it costs to write and to read the messages: time of the thread on the processor, warmed up, all targets in turn. */
final class Clock {
    private static final int MOST_MESSAGES = 24, MOST_GROUPS = 128; // of a group; requests or responses of 64 methods
    private static final long MOST_BYTES = 64 << 20; // of all bodies
    private static final long SHORTEST = 20_000, LONG_ENOUGH = 200_000; // nanoseconds that a measurement lasts at least
    private static final int ROUNDS = 40, FEWEST_ROUNDS = 3;
    private static final int PATIENCE = 3; // how many times as long it may take where others use the processor, and again until there is one round

    private final Target[] targets;
    private final int maxBody;
    private final Map<Long, Group> groups = new TreeMap<>();
    private long kept, lasts; // bytes of the bodies; nanoseconds of a measurement
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    Clock(Target[] targets, int maxBody) {
        this.targets = targets;
        this.maxBody = maxBody;
    }

    /** A sample of the requests or responses of one group: the same messages for all targets. */
    private static final class Group {
        final Message[] messages = new Message[MOST_MESSAGES];
        final Cell[] cells;
        final Random random = new Random(1);
        int seen;

        Group(int targets) {
            cells = new Cell[targets];
            for (int i = 0; i < targets; i++) {
                cells[i] = new Cell();
            }
        }
    }

    /** The sample in one target. */
    private static final class Cell {
        final byte[][] bodies = new byte[MOST_MESSAGES][]; // null where the target could not write the message
        final long[][] nanos = new long[2][]; // a message, in the rounds: to encode, to decode
        final int[] repeat = {1, 1};
        final boolean[][] skips = new boolean[2][MOST_MESSAGES]; // messages that cannot be written again, or not be read
        final boolean[] fails = new boolean[2];
        Throwable unreadable; // why the first message that cannot be read cannot be
    }

    private static long key(Message m) {
        return (long) m.group << 2 | (m.response ? 2 : 1);
    }

    /** The place of a message in the sample of its group, which keeps its objects in memory; -1 if it is not taken. */
    int place(Message m) {
        Group g = groups.get(key(m));
        if (g == null) {
            if (groups.size() >= MOST_GROUPS) {
                return -1;
            }
            g = new Group(targets.length);
            groups.put(key(m), g);
        }
        int at = g.seen < MOST_MESSAGES ? g.seen : g.random.nextInt(g.seen + 1);
        g.seen++;
        if (at >= MOST_MESSAGES || kept >= MOST_BYTES) {
            return -1;
        }
        g.messages[at] = m;
        for (Cell c : g.cells) {
            kept -= c.bodies[at] == null ? 0 : c.bodies[at].length;
            c.bodies[at] = null;
        }
        return at;
    }

    void keep(int target, Message m, int place, byte[] body) {
        kept += body.length;
        groups.get(key(m)).cells[target].bodies[place] = body;
    }

    /**
     * Measures for about so many milliseconds of the processor: a third to warm up, the rest in rounds. All targets share the time. Where it is
     * too short for one round of all, it takes longer.
     */
    void run(int millis, DataOutputStream out) throws IOException {
        long start = System.nanoTime(), begin = threads.getCurrentThreadCpuTime(), budget = millis * 1_000_000L, patience = budget * PATIENCE;
        lasts = Math.max(SHORTEST, Math.min(LONG_ENOUGH, budget / 40 / Math.max(1, 2 * groups.size() * targets.length)));
        Target.Body body = new Target.Body(maxBody);
        int round = -1;
        for (boolean more = true; more && round < ROUNDS;) {
            long used = threads.getCurrentThreadCpuTime() - begin, passed = System.nanoTime() - start;
            if (round < 0 && (used > budget / 3 || passed > patience / 3)) {
                round = 0;
            }
            if (round > 0 && passed > patience || round >= FEWEST_ROUNDS && used > budget) {
                break;
            }
            more = false;
            long end = start + (round > 0 ? patience : patience * PATIENCE);
            for (int t = 0; t < targets.length; t++) { // the end of the time must not always come before the same targets
                for (Group g : groups.values()) {
                    Cell c = g.cells[(t + Math.max(round, 0)) % targets.length];
                    for (int way = 0; way < 2 && System.nanoTime() < end; way++) {
                        more |= measure(targets[(t + Math.max(round, 0)) % targets.length], g, c, way, body, round);
                    }
                }
            }
            round += round < 0 ? 0 : 1;
        }
        for (Map.Entry<Long, Group> e : groups.entrySet()) {
            for (int t = 0; t < targets.length; t++) {
                Cell c = e.getValue().cells[t];
                out.writeByte(2);
                out.writeInt(t);
                out.writeInt((int) (e.getKey() >> 2));
                out.writeByte((int) (e.getKey() & 3));
                write(c, 0, out);
                if (!write(c, 1, out) && c.unreadable != null) {
                    out.writeByte(3);
                    Main.text(Failure.line(c.unreadable), out);
                }
            }
        }
    }

    /** Writes the fastest tenth and the median of the rounds; false if there are none. */
    private static boolean write(Cell c, int way, DataOutputStream out) throws IOException {
        long[] nanos = c.nanos[way] == null || c.fails[way] ? new long[0] : c.nanos[way].clone();
        Arrays.sort(nanos);
        int first = 0;
        while (first < nanos.length && nanos[first] == 0) {
            first++; // a round that was not begun
        }
        int n = nanos.length - first;
        out.writeLong(n == 0 ? -1 : nanos[first + n / 10]);
        out.writeLong(n == 0 ? -1 : nanos[first + n / 2]);
        return n > 0;
    }

    /** Writes or reads all messages of a cell, as often as makes a measurement long enough; round -1 warms up. */
    private boolean measure(Target target, Group group, Cell cell, int way, Target.Body body, int round) {
        if (cell.fails[way]) {
            return false;
        }
        long before = threads.getCurrentThreadCpuTime();
        int messages = 0;
        for (int i = 0; i < cell.repeat[way]; i++) {
            for (int k = 0; k < MOST_MESSAGES; k++) {
                if (cell.bodies[k] == null || cell.skips[way][k]) {
                    continue;
                }
                try {
                    if (way == 0) {
                        body.reset();
                        target.encode(group.messages[k], body);
                    } else {
                        target.decode(group.messages[k], cell.bodies[k]);
                    }
                    messages++;
                } catch (ThreadDeath e) {
                    throw e;
                } catch (Throwable e) {
                    cell.skips[way][k] = true;
                    cell.unreadable = way == 1 && cell.unreadable == null ? e : cell.unreadable;
                }
            }
        }
        if (messages == 0) {
            cell.fails[way] = true;
            return false;
        }
        long took = threads.getCurrentThreadCpuTime() - before;
        if (round < 0) {
            if (took < lasts && cell.repeat[way] < 1 << 16) {
                cell.repeat[way] *= took < lasts / 4 ? 4 : 2;
            }
            return true;
        }
        if (cell.nanos[way] == null) {
            cell.nanos[way] = new long[ROUNDS];
        }
        cell.nanos[way][round] = Math.max(1, took / messages);
        return true;
    }
}
