package org.dubbowire.rig.truth;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** The file the truth goes to: one JSON object per line, flushed at once, so that a killed process loses nothing. */
final class TruthLog {
    static final String SIDE = System.getProperty("truth.side", "unknown");
    /** Which application of several; empty where there is one provider and one consumer. */
    static final String PEER = System.getProperty("truth.peer", "").replaceFirst("^-", "");
    private static final Writer OUT = open();

    private TruthLog() {
    }

    private static Writer open() {
        String file = System.getProperty("truth.file");
        try {
            return file == null ? Writer.nullWriter() : Files.newBufferedWriter(Path.of(file), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static synchronized void line(String json) {
        try {
            OUT.write(json);
            OUT.write('\n');
            OUT.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
