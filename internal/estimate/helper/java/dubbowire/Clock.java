package dubbowire;

import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What it costs to write and to read the messages: time of the thread on the processor, warmed up, all targets in turn. */
final class Clock {
    private static final int MOST_MESSAGES = 64, MOST_GROUPS = 64; // of a group; groups
    private static final long MOST_BYTES = 64 << 20, ROUND = 200_000; // of all bodies; nanoseconds that a measurement lasts at least
    private static final int ROUNDS = 40, FEWEST_ROUNDS = 3;

    private final Target[] targets;
    private final int maxBody;
    private final Map<Long, Cell[]> cells = new TreeMap<>();
    private long kept;
    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    Clock(Target[] targets, int maxBody) {
        this.targets = targets;
        this.maxBody = maxBody;
    }

    private static final class Cell {
        final List<Message> messages = new ArrayList<>();
        final List<byte[]> bodies = new ArrayList<>();
        final long[][] nanos = new long[2][]; // a message, in the rounds: to encode, to decode
        final int[] repeat = {1, 1};
        final boolean[] fails = new boolean[2];
        int rounds;
    }

    /** Keeps a message for the measurement; its objects stay in memory. */
    void keep(int target, Message m, byte[] body, int size) {
        long key = (long) m.group << 2 | (m.response ? 2 : 1);
        Cell[] all = cells.get(key);
        if (all == null) {
            if (cells.size() >= MOST_GROUPS) {
                return;
            }
            all = new Cell[targets.length];
            cells.put(key, all);
        }
        if (all[target] == null) {
            all[target] = new Cell();
        }
        if (all[target].messages.size() < MOST_MESSAGES && kept + size <= MOST_BYTES) {
            kept += size;
            all[target].messages.add(m);
            all[target].bodies.add(Arrays.copyOf(body, size));
        }
    }

    /** Measures for about so many milliseconds: a third to warm up, the rest in rounds. */
    void run(int millis, DataOutputStream out) throws IOException {
        List<Object[]> all = new ArrayList<>(); // target, key, cell
        for (Map.Entry<Long, Cell[]> e : cells.entrySet()) {
            for (int t = 0; t < targets.length; t++) {
                if (e.getValue()[t] != null) {
                    all.add(new Object[] {t, e.getKey(), e.getValue()[t]});
                }
            }
        }
        long begin = System.nanoTime(), warm = begin + millis * 1_000_000L / 3, end = begin + millis * 1_000_000L;
        Target.Body body = new Target.Body(maxBody);
        for (boolean more = true; more && System.nanoTime() < warm;) {
            more = false;
            for (Object[] c : all) {
                for (int way = 0; way < 2; way++) {
                    if (System.nanoTime() < warm) {
                        more |= measure(targets[(Integer) c[0]], (Cell) c[2], way, body, -1);
                    }
                }
            }
        }
        int round = 0;
        for (; round < ROUNDS && (round < FEWEST_ROUNDS || System.nanoTime() < end) && System.nanoTime() < end + millis * 1_000_000L; round++) {
            for (Object[] c : all) {
                for (int way = 0; way < 2; way++) {
                    measure(targets[(Integer) c[0]], (Cell) c[2], way, body, round);
                }
            }
        }
        for (Object[] c : all) {
            Cell cell = (Cell) c[2];
            out.writeByte(2);
            out.writeInt((Integer) c[0]);
            out.writeInt((int) ((Long) c[1] >> 2));
            out.writeByte((int) ((Long) c[1] & 3));
            for (int way = 0; way < 2; way++) {
                long[] nanos = cell.nanos[way] == null ? new long[0] : Arrays.copyOf(cell.nanos[way], round);
                Arrays.sort(nanos);
                boolean known = !cell.fails[way] && nanos.length > 0;
                out.writeLong(known ? nanos[nanos.length / 10] : -1);
                out.writeLong(known ? nanos[nanos.length / 2] : -1);
            }
        }
    }

    /** Writes or reads all messages of a cell, as often as makes a measurement long enough; round -1 warms up. */
    private boolean measure(Target target, Cell cell, int way, Target.Body body, int round) {
        if (cell.fails[way]) {
            return false;
        }
        long before = threads.getCurrentThreadCpuTime();
        try {
            for (int i = 0; i < cell.repeat[way]; i++) {
                for (int k = 0; k < cell.messages.size(); k++) {
                    if (way == 0) {
                        body.reset();
                        target.encode(cell.messages.get(k), body);
                    } else {
                        target.decode(cell.messages.get(k), cell.bodies.get(k));
                    }
                }
            }
        } catch (ThreadDeath e) {
            throw e;
        } catch (Throwable e) {
            cell.fails[way] = true;
            return false;
        }
        long took = threads.getCurrentThreadCpuTime() - before;
        if (round < 0) {
            if (took < ROUND && cell.repeat[way] < 1 << 16) {
                cell.repeat[way] *= took < ROUND / 4 ? 4 : 2;
            }
            return true;
        }
        if (cell.nanos[way] == null) {
            cell.nanos[way] = new long[ROUNDS];
        }
        cell.nanos[way][round] = took / ((long) cell.repeat[way] * cell.messages.size());
        return true;
    }
}
